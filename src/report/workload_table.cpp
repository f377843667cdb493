#include "report/workload_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/grid.h"
#include "report/text.h"

namespace tune::report {
namespace {

using Ratio = std::optional<double> WorkloadRow::*;

struct WorkloadTotal {
  double calls = 0, seconds = 0;
  std::size_t tuned = 0;
};

WorkloadTotal total_of(std::span<const WorkloadRow> rows) {
  WorkloadTotal total;
  for (const WorkloadRow& row : rows) {
    if (!row.seconds) continue;
    total.calls += row.calls;
    total.seconds += row.calls * *row.seconds;
    ++total.tuned;
  }
  return total;
}

std::string shown_ratio(const std::optional<double>& ratio) { return ratio ? four_digits(*ratio) : "-"; }

/// Of all calls whose ratio is known: their time with the other over that with the best.
std::optional<double> total_ratio(std::span<const WorkloadRow> rows, Ratio ratio) {
  double best = 0, other = 0;
  for (const WorkloadRow& row : rows) {
    if (!row.seconds || !(row.*ratio)) continue;
    best += row.calls * *row.seconds;
    other += row.calls * *row.seconds * *(row.*ratio);
  }
  return best > 0 ? std::optional(other / best) : std::nullopt;
}

std::string calls_text(double calls) { return fmt::format("{:.15g}", calls); }

GridColumn column_of(const char* title, std::span<const WorkloadRow> rows,
                     const std::function<std::string(const WorkloadRow&)>& text, std::string total) {
  GridColumn column;
  column.title = title;
  for (const WorkloadRow& row : rows) column.cells.push_back(text(row));
  column.cells.push_back(std::move(total));
  return column;
}

/// A sentence where a total leaves shapes out.
std::string total_remark(std::span<const WorkloadRow> rows, Ratio ratio, const char* label) {
  const auto known = std::ranges::count_if(rows, [&](const WorkloadRow& row) { return row.seconds && row.*ratio; });
  const auto tuned = std::ranges::count_if(rows, [](const WorkloadRow& row) { return row.seconds.has_value(); });
  if (known == 0 || known == tuned) return "";
  return fmt::format("{}: {} of {} shapes were compared with it, and the total is theirs\n", label, known, tuned);
}

}  // namespace

std::string workload_text(std::span<const WorkloadRow> rows, bool complete, int width) {
  const WorkloadTotal total = total_of(rows);
  const auto share = [&](const WorkloadRow& row) {
    return row.seconds ? fmt::format("{:.1f}", 100 * row.calls * *row.seconds / total.seconds) : "-";
  };
  std::vector<GridColumn> columns = {
      column_of(
          "shape", rows, [](const WorkloadRow& row) { return row.shape; }, "all calls"),
      column_of(
          "calls", rows, [](const WorkloadRow& row) { return calls_text(row.calls); }, calls_text(total.calls)),
      column_of(
          "met (ms)", rows, [](const WorkloadRow& row) { return row.seconds ? four_digits(*row.seconds * 1e3) : "-"; },
          total.tuned > 0 ? four_digits(total.seconds * 1e3) : "-"),
      column_of("% time", rows, share, "")};
  const std::pair<const char*, Ratio> baselines[] = {{"x default", &WorkloadRow::x_default},
                                                     {"x vendor", &WorkloadRow::x_vendor}};
  std::string remarks;
  for (const auto& [label, ratio] : baselines) {
    const auto of_all = total_ratio(rows, ratio);
    if (!of_all) continue;
    columns.push_back(column_of(
        label, rows, [&](const WorkloadRow& row) { return shown_ratio(row.*ratio); }, shown_ratio(of_all)));
    remarks += total_remark(rows, ratio, label);
  }
  columns.push_back(column_of(
      "found", rows, [](const WorkloadRow& row) { return row.found; }, ""));
  for (const char* title : {"found", "% time", "x default", "x vendor"})
    if (width > 0 && grid_width(columns) > static_cast<std::size_t>(width))
      std::erase_if(columns, [&](const GridColumn& column) { return column.title == title; });
  const std::string rule(80, '-');
  double calls = 0;
  for (const WorkloadRow& row : rows) calls += row.calls;
  const std::string until = complete ? "" : ", until the run ended";
  std::string text = fmt::format("{}\nWorkload: {} of {} shapes tuned, {} calls{}\n{}\n", rule, total.tuned,
                                 rows.size(), calls_text(calls), until, rule);
  return text + grid_text(columns) + remarks;
}

}  // namespace tune::report
