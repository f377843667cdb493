#pragma once
#include <string>
#include <vector>

#include "report/fitted_table.h"
#include "report/shown_text.h"
#include "report/summary.h"

namespace tune::report {

/// What one row of the table is made of, whether a spec's or a baseline's.
struct Row {
  const Spec* spec = nullptr;
  const Entrant* baseline = nullptr;  ///< null: it is a row of a spec
  Measurement measurement;
  const FinalsResult* finals_result = nullptr;
  bool best = false;
  bool on_front = false;
  const Spec* same_as = nullptr;
  bool failed_in_finals = false;
  bool faster_in_sweep = false;  ///< than the winner in the finals, in which it was not
};

/// A row for each ranked spec: best first if the run was tuned, else in mesh order.
std::vector<Row> rows_of_specs(const Summary& summary);
/// A row for each baseline that was timed.
std::vector<Row> rows_of_baselines(const Summary& summary);
/// Removes the specs' rows that the table does not show, and returns how many they are.
std::size_t hide_rows(std::vector<Row>& specs, const Summary& summary);

/// A dash where there is none.
std::string mesh_text(const Row& row);
std::string iters_text(const Row& row);
/// What is special about a row, such as `tie`; empty if nothing is.
std::string note_text(const Row& row);
Style style_of(const Row& row);

/// Which of the columns that not every table needs a table has.
struct OptionalColumns {
  bool other_state = false, note = false;
};
/// What these rows need.
OptionalColumns needed_columns(const std::vector<Row>& rows);

/// A table, and what it lacks to fit the terminal.
struct SpecTable : FittedTable {
  std::vector<Setting> shared = {};  ///< all specs have it, and their names leave it out
};

/// A line for each of these: `all specs shown have BK=64 $GROUP=8`, `names: BM/BN/BK`, `no room for +- %, note; ...`.
std::string lacks_text(const SpecTable& table);

/// The table with these rows.
///
/// On a terminal numbers have four significant digits, and the table is made to fit, as far as needed and in this
/// order: the names lose the name of the run; titles become units; `iters` goes; names become their values alone; the
/// title above them is cut; they lose the values that all rows share; the time in the other power state goes, then
/// figures that are no objective (the last first, but not the first figure),
/// `+- %`, the ratios to baselines (the last first), the remaining figures and `note`; and at last the names are cut.
SpecTable spec_table(const Summary& summary, const std::vector<Row>& rows, OptionalColumns optional);

}  // namespace tune::report
