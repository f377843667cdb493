#pragma once
#include <string>
#include <vector>

#include "report/style.h"
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

}  // namespace tune::report
