#pragma once
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

/// The columns of the table with these rows.
///
/// On a terminal numbers have four significant digits, and the table is made to fit, as far as needed and in this
/// order: the names lose the name of the run; titles become units; `iters` goes; names become their values alone; the
/// title above them is cut; the time in the other power state goes, then figures that are no objective (the last first,
/// but not the first figure),
/// `+- %`, the ratios to baselines (the last first), the remaining figures and `note`; and at last the names are cut.
std::vector<GridColumn> table_columns(const Summary& summary, const std::vector<Row>& rows, OptionalColumns optional);

}  // namespace tune::report
