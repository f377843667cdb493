#include <fmt/format.h>

#include <algorithm>

#include "base/streams.h"
#include "commands/commands.h"
#include "config/database_file.h"
#include "flow/database_runs.h"
#include "model/values/shown.h"
#include "report/grid.h"

namespace tune::commands {
namespace {

std::string width_text(const TunedResult& result) {
  if (!result.interval) return "-";
  return fmt::format("{:.2f}", 50 * (result.interval->high - result.interval->low) / result.seconds);
}

std::string ratios_text(const TunedResult& result) {
  std::string text;
  for (const auto& [label, ratio] : result.ratios)
    text += fmt::format("{}{:.4g} x {}", text.empty() ? "" : ", ", ratio, label);
  return text.empty() ? "-" : text;
}

}  // namespace

ExitCode show_database(const ShowOptions& options) {
  if (options.number || options.sort || !options.columns.empty() || options.failed || options.effects ||
      options.chart || options.changes)
    throw Error(ExitCode::bad_input,
                fmt::format("{} is a database, which has only the best of each problem; give the journal of a run, or "
                            "drop --run, --sort, --columns, --failed, --effects, --chart and --changes",
                            options.run.string()));
  const Database database = config::read_database(options.run);
  std::vector<report::GridColumn> columns;
  for (const char* title : {"kernel", "device", "sizes", "problem", "params", "met (ms)", "+- %", "ratio", "date"})
    columns.push_back({title, columns.empty() ? 1U : 2U, {}});
  std::size_t rows = 0;
  for (const auto& [key, result] : database.results) {
    if (options.top && *options.top > 0 && rows++ >= *options.top) break;
    const std::string cells[] = {key.group.kernel,
                                 key.group.device.name,
                                 key.sizes.empty() ? "-" : to_text(key.sizes),
                                 key.group.problem.empty() ? "-" : flow::problem_of_result({key.group, {}}),
                                 to_text(result.params),
                                 fmt::format("{:.6g}", result.seconds * 1e3),
                                 width_text(result),
                                 ratios_text(result),
                                 result.date.empty() ? "-" : result.date};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(shown_line(cells[i]));
  }
  std::string text;
  if (!database.results.empty()) text = report::grid_text(columns);
  text += fmt::format("{} results and {} rules\n", database.results.size(), database.rules.size());
  base::print(text);
  return ExitCode::ok;
}

}  // namespace tune::commands
