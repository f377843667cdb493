#include "report/fitting.h"

#include <algorithm>
#include <set>

#include "report/text.h"

namespace tune::report {
namespace {

constexpr std::size_t kShortestName = 4, kLongestWord = 12;

std::vector<GridColumn> grid_of(const std::vector<FittedColumn>& columns) {
  std::vector<GridColumn> grid;
  for (const FittedColumn& column : columns) grid.push_back(column.grid);
  return grid;
}

auto names_column(std::vector<FittedColumn>& columns) { return std::ranges::find(columns, true, &FittedColumn::names); }

/// Removes the last column that leaves at this step; returns false if there is none.
bool drop_last(std::vector<FittedColumn>& columns, int step) {
  const auto last = std::find_if(columns.rbegin(), columns.rend(), [step](const auto& c) { return c.leaves == step; });
  if (last == columns.rend()) return false;
  columns.erase(std::next(last).base());
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
    columns.erase(names_column(columns));
    return;
  }
  names.title = cut_to(names.title, own - excess);
  for (std::string& cell : names.cells) cell = cut_to(cell, own - excess);
}

}  // namespace

std::size_t width_of_table(const std::vector<FittedColumn>& columns) { return grid_width(grid_of(columns)); }

bool fits_with_cut_title(std::vector<FittedColumn> columns, std::size_t room) {
  std::string& title = names_column(columns)->grid.title;
  title = cut_to(title, least_title(title));
  return width_of_table(columns) <= room;
}

std::vector<GridColumn> fitted(std::vector<FittedColumn> columns, std::size_t room) {
  if (room == 0 || width_of_table(columns) <= room) return grid_of(columns);
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
  return grid_of(columns);
}

}  // namespace tune::report
