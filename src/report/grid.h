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

/// The table, a line per row below the titles. Precondition: all columns have as many cells.
std::string grid_text(std::span<const GridColumn> columns);
/// Columns of the terminal that `grid_text` needs.
std::size_t grid_width(std::span<const GridColumn> columns);

}  // namespace tune::report
