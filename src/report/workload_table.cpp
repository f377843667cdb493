#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "report/fitted_table.h"
#include "report/shown_text.h"
#include "report/table.h"

namespace tune::report {
namespace {

using Ratio = std::optional<double> WorkloadRow::*;

constexpr std::pair<const char*, Ratio> kBaselines[] = {{"x default", &WorkloadRow::x_default},
                                                        {"x vendor", &WorkloadRow::x_vendor}};

/// Of the shapes that were tuned.
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

using CellText = std::function<std::string(const WorkloadRow&)>;

/// `of_all` stands below the rows where they add up.
GridColumn column_of(const char* title, std::span<const WorkloadRow> rows, const CellText& text,
                     const std::optional<std::string>& of_all = std::nullopt) {
  GridColumn column;
  column.title = title;
  for (const WorkloadRow& row : rows) column.cells.push_back(text(row));
  if (of_all) column.cells.push_back(*of_all);
  return column;
}

/// What the rows are of, and their times.
std::vector<GridColumn> first_columns(std::span<const WorkloadRow> rows, const std::optional<WorkloadTotal>& total) {
  const CellText model = [](const WorkloadRow& row) { return row.model; };
  const CellText shape = [](const WorkloadRow& row) { return row.shape; };
  const CellText calls = [](const WorkloadRow& row) { return calls_text(row.calls); };
  const CellText met = [](const WorkloadRow& row) { return row.seconds ? four_digits(*row.seconds * 1e3) : "-"; };
  if (!total) return {column_of("device", rows, model), column_of("met (ms)", rows, met)};
  const CellText share = [&](const WorkloadRow& row) {
    return row.seconds ? fmt::format("{:.1f}", 100 * row.calls * *row.seconds / total->seconds) : "-";
  };
  return {column_of("shape", rows, shape, "all calls"), column_of("calls", rows, calls, calls_text(total->calls)),
          column_of("met (ms)", rows, met, total->tuned > 0 ? four_digits(total->seconds * 1e3) : "-"),
          column_of("% time", rows, share, "")};
}

std::vector<GridColumn> columns_of(std::span<const WorkloadRow> rows, const std::optional<WorkloadTotal>& total) {
  std::vector<GridColumn> columns = first_columns(rows, total);
  const auto below = [&](const std::string& text) { return total ? std::optional(text) : std::nullopt; };
  for (const auto& [label, ratio] : kBaselines) {
    const CellText shown = [ratio = ratio](const WorkloadRow& row) { return shown_ratio(row.*ratio); };
    if (const auto of_all = total_ratio(rows, ratio))
      columns.push_back(column_of(label, rows, shown, below(shown_ratio(of_all))));
  }
  const CellText found = [](const WorkloadRow& row) { return row.found; };
  columns.push_back(column_of("found", rows, found, below("")));
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
  const std::string& model = rows.front().model;
  std::string text =
      table_of(columns_of(rows, total),
               fmt::format("Workload{}: {} of {} shapes tuned, {} call{}{}", model.empty() ? "" : " on " + model,
                           total.tuned, rows.size(), calls_text(total.calls), total.calls == 1 ? "" : "s", until),
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
