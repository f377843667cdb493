#pragma once
#include <string>
#include <vector>

#include "report/grid.h"
#include "report/rows.h"

namespace tune::report {

/// Which of the columns that not every table needs a table has.
struct OptionalColumns {
  bool other_state = false, note = false;
};
/// What these rows need.
OptionalColumns needed_columns(const std::vector<Row>& rows);

/// A table, and what it lacks to fit the terminal.
struct SpecTable {
  std::vector<GridColumn> columns;
  std::vector<Setting> shared = {};        ///< all specs have it, and their names leave it out
  std::string full_title = {};             ///< `BM/BN/BK`, where the title above the names is cut
  std::vector<std::string> left_out = {};  ///< the titles of the columns that do not fit
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
