#include "report/grid.h"

#include <algorithm>
#include <cassert>

#include "report/text.h"

namespace tune::report {
namespace {

/// A program's column may be called anything.
std::string one_line(const std::string& text) { return printable(text, text.size()); }

/// Gap included.
std::size_t width_of_column(const GridColumn& column) {
  std::size_t width = width_of(one_line(column.title));
  for (const std::string& cell : column.cells) width = std::max(width, width_of(one_line(cell)));
  return width + column.gap;
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - width_of(text), ' ') + text;
}

}  // namespace

std::vector<std::string> grid_lines(std::span<const GridColumn> written) {
  std::vector<GridColumn> columns(written.begin(), written.end());
  for (GridColumn& column : columns) {
    column.title = one_line(column.title);
    for (std::string& cell : column.cells) cell = one_line(cell);
  }
  std::vector<std::string> lines(columns.front().cells.size() + 1);
  for (const GridColumn& column : columns) {
    assert(column.cells.size() + 1 == lines.size());
    const std::size_t width = width_of_column(column);
    lines[0] += right_aligned(column.title, width);
    for (std::size_t i = 0; i < column.cells.size(); ++i) lines[i + 1] += right_aligned(column.cells[i], width);
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

std::string grid_text(std::span<const GridColumn> columns) {
  std::string text;
  for (const std::string& line : grid_lines(columns)) text += line + '\n';
  return text;
}

std::size_t grid_width(std::span<const GridColumn> columns) {
  std::size_t width = 0;
  for (const GridColumn& column : columns) width += width_of_column(column);
  return width;
}

}  // namespace tune::report
