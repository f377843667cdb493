#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tune::report {

/// A column of a right-aligned text table, `gap` spaces away from what stands left of it.
struct GridColumn {
  std::string title;
  std::size_t gap = 2;
  std::vector<std::string> cells;
};

/// The lines of the table: the titles, then one per row. Precondition: all columns have as many cells.
std::vector<std::string> grid_lines(std::span<const GridColumn> columns);
/// The same lines, each with its end.
std::string grid_text(std::span<const GridColumn> columns);
/// Columns of the terminal that the longest of `grid_lines` takes.
std::size_t grid_width(std::span<const GridColumn> columns);

/// A column of a table that is made to fit the terminal. One column may have the names of the rows.
struct FittedColumn {
  int leaves = 0;  ///< when it leaves a table that is too wide: those with the lowest number first; 0: never
  bool names = false;
  GridColumn grid;
  bool has_left = false;  ///< the table, which was too wide
};

std::size_t width_of_table(const std::vector<FittedColumn>& columns);
/// Whether the table fits if only the title above the names is cut.
bool fits_with_cut_title(std::vector<FittedColumn> columns, std::size_t room);
/// A table that fits, and what it lacks for that.
struct FittedTable {
  std::vector<GridColumn> columns;
  std::string full_title = {};             ///< `BM/BN/BK`, where the title above the names is cut
  std::vector<std::string> left_out = {};  ///< the titles of the columns that do not fit
};

/// The table without what makes it wider than `room` columns (0: whatever it takes): first the title above the names is
/// cut, then columns leave, the last first of those that leave together, and at last the names are cut.
FittedTable fitted(std::vector<FittedColumn> columns, std::size_t room);

}  // namespace tune::report
