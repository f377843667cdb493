#include "report/fitted_table.h"

#include <algorithm>
#include <cassert>
#include <set>

#include "report/shown_text.h"

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

constexpr std::size_t kShortestName = 4, kLongestWord = 12;

std::vector<GridColumn> grid_of(const std::vector<FittedColumn>& columns) {
  std::vector<GridColumn> grid;
  for (const FittedColumn& column : columns)
    if (!column.has_left) grid.push_back(column.grid);
  return grid;
}

auto names_column(std::vector<FittedColumn>& columns) { return std::ranges::find(columns, true, &FittedColumn::names); }

/// Removes the last column that leaves at this step; returns false if there is none.
bool drop_last(std::vector<FittedColumn>& columns, int step) {
  const auto last =
      std::find_if(columns.rbegin(), columns.rend(), [step](const auto& c) { return c.leaves == step && !c.has_left; });
  if (last == columns.rend()) return false;
  last->has_left = true;
  return true;
}

/// How much of the title above the names stays: the first parameter.
std::size_t least_title(const std::string& title) {
  return std::clamp(width_of(title.substr(0, title.find('/'))), kShortestName, kLongestWord);
}

/// Gives the names this title, or as much of it as fits, but leaves it as wide as they are.
void fit_title(std::vector<FittedColumn>& columns, const std::string& title, std::size_t room) {
  GridColumn& names = names_column(columns)->grid;
  names.title = title;
  const std::size_t width = width_of_table(columns), own = width_of(title);
  if (width <= room) return;
  std::size_t widest = least_title(title);
  for (const std::string& cell : names.cells) widest = std::max(widest, width_of(cell));
  names.title = cut_to(title, std::max(own - std::min(own, width - room), widest));
}

void cut_names(std::vector<FittedColumn>& columns, std::size_t room) {
  GridColumn& names = names_column(columns)->grid;
  const std::size_t own = grid_width(std::vector{names}) - names.gap, excess = width_of_table(columns) - room;
  if (own < excess + kShortestName) {
    names_column(columns)->has_left = true;
    return;
  }
  names.title = cut_to(names.title, own - excess);
  for (std::string& cell : names.cells) cell = cut_to(cell, own - excess);
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

std::size_t width_of_table(const std::vector<FittedColumn>& columns) { return grid_width(grid_of(columns)); }

bool fits_with_cut_title(std::vector<FittedColumn> columns, std::size_t room) {
  std::string& title = names_column(columns)->grid.title;
  title = cut_to(title, least_title(title));
  return width_of_table(columns) <= room;
}

FittedTable fitted(std::vector<FittedColumn> columns, std::size_t room) {
  if (room == 0 || width_of_table(columns) <= room) return {grid_of(columns)};
  const std::string title = names_column(columns)->grid.title;
  fit_title(columns, title, room);
  std::set<int> steps;
  for (const FittedColumn& column : columns)
    if (column.leaves > 0) steps.insert(column.leaves);
  for (const int step : steps)
    while (width_of_table(columns) > room && drop_last(columns, step)) continue;
  if (width_of_table(columns) > room)
    cut_names(columns, room);
  else
    fit_title(columns, title, room);
  FittedTable table{grid_of(columns)};
  for (const FittedColumn& column : columns) {
    if (column.has_left) table.left_out.push_back(column.names ? title : column.grid.title);
    if (column.names && !column.has_left && column.grid.title != title) table.full_title = title;
  }
  return table;
}

}  // namespace tune::report
