#pragma once
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

}  // namespace tune::report
