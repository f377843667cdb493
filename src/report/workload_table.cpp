#include "report/workload_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "report/grid.h"
#include "report/text.h"

namespace tune::report {
namespace {

using Ratio = std::optional<double> WorkloadRow::*;

constexpr std::pair<const char*, Ratio> kBaselines[] = {{"x default", &WorkloadRow::x_default},
                                                        {"x vendor", &WorkloadRow::x_vendor}};

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

/// A sentence where a total leaves shapes out.
std::string total_remark(std::span<const WorkloadRow> rows, Ratio ratio, const char* label) {
  const auto known = std::ranges::count_if(rows, [&](const WorkloadRow& row) { return row.seconds && row.*ratio; });
  const auto tuned = std::ranges::count_if(rows, [](const WorkloadRow& row) { return row.seconds.has_value(); });
  if (known == 0 || known == tuned) return "";
  return fmt::format("{}: {} of {} shapes were compared with it, and the total is theirs\n", label, known, tuned);
}

/// With a total below it where the rows add up.
std::vector<GridColumn> columns_of(std::span<const WorkloadRow> rows, const std::optional<WorkloadTotal>& total) {
  std::vector<GridColumn> columns;
  const auto add = [&](const char* title, const std::function<std::string(const WorkloadRow&)>& text,
                       const std::function<std::string()>& of_all) {
    columns.emplace_back().title = title;
    for (const WorkloadRow& row : rows) columns.back().cells.push_back(text(row));
    if (total) columns.back().cells.push_back(of_all());
  };
  const auto none = [] { return std::string(); };
  if (total) {
    add(
        "shape", [](const WorkloadRow& row) { return row.shape; }, [] { return "all calls"; });
    add(
        "calls", [](const WorkloadRow& row) { return calls_text(row.calls); },
        [&] { return calls_text(total->calls); });
  } else {
    add(
        "device", [](const WorkloadRow& row) { return row.model; }, none);
  }
  add(
      "met (ms)", [](const WorkloadRow& row) { return row.seconds ? four_digits(*row.seconds * 1e3) : "-"; },
      [&] { return total->tuned > 0 ? four_digits(total->seconds * 1e3) : "-"; });
  const auto share = [&](const WorkloadRow& row) {
    return row.seconds ? fmt::format("{:.1f}", 100 * row.calls * *row.seconds / total->seconds) : "-";
  };
  if (total) add("% time", share, none);
  for (const auto& [label, ratio] : kBaselines)
    if (const auto of_all = total_ratio(rows, ratio))
      add(
          label, [ratio = ratio](const WorkloadRow& row) { return shown_ratio(row.*ratio); },
          [&] { return shown_ratio(of_all); });
  add(
      "found", [](const WorkloadRow& row) { return row.found; }, none);
  return columns;
}

std::string table_of(std::vector<GridColumn> columns, const std::string& title, int width) {
  for (const char* dispensable : {"found", "% time", "x default", "x vendor"})
    if (width > 0 && grid_width(columns) > static_cast<std::size_t>(width))
      std::erase_if(columns, [&](const GridColumn& column) { return column.title == dispensable; });
  const std::string rule(80, '-');
  return fmt::format("{0}\n{1}\n{0}\n{2}", rule, title, grid_text(columns));
}

std::string shapes_text(std::span<const WorkloadRow> rows, const char* until, int width) {
  const WorkloadTotal total = total_of(rows);
  double calls = 0;
  for (const WorkloadRow& row : rows) calls += row.calls;
  const std::string& model = rows.front().model;
  std::string text =
      table_of(columns_of(rows, total),
               fmt::format("Workload{}: {} of {} shapes tuned, {} calls{}", model.empty() ? "" : " on " + model,
                           total.tuned, rows.size(), calls_text(calls), until),
               width);
  for (const auto& [label, ratio] : kBaselines) text += total_remark(rows, ratio, label);
  return text;
}

}  // namespace

std::string workload_text(std::span<const WorkloadRow> rows, bool complete, int width) {
  const char* until = complete ? "" : ", until the run ended";
  if (rows.front().shape.empty())
    return table_of(columns_of(rows, std::nullopt),
                    fmt::format("Device models: {} of {} tuned{}", total_of(rows).tuned, rows.size(), until), width);
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].model == rows[begin].model) ++end;
    text += shapes_text(rows.subspan(begin, end - begin), until, width);
  }
  return text;
}

}  // namespace tune::report
