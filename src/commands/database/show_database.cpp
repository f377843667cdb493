#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "commands/database/database_runs.h"
#include "commands/results/show.h"
#include "database/database_file.h"
#include "model/settings.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "report/fitted_table.h"
#include "report/shown_text.h"

namespace tune::commands {
namespace {

using Rows = std::vector<const std::pair<const database::ResultKey, database::TunedResult>*>;

/// A table with a row for each result. What all of them have in common stands in lines above it.
class DatabaseTable {
 public:
  DatabaseTable(Rows rows, int width) : rows_(std::move(rows)), width_(width) {
    add_unless_common("kernel", 6,
                      [](const database::ResultKey& key, const database::TunedResult&) { return key.group.kernel; });
    add_unless_common("device", 5, [](const database::ResultKey& key, const database::TunedResult&) {
      return key.group.device.name;
    });
    add("sizes", 0,
        [](const database::ResultKey& key, const database::TunedResult&) { return database::to_text(key.sizes); });
    add_unless_common("problem", 4, [](const database::ResultKey& key, const database::TunedResult&) {
      return problem_of_result({key.group, {}});
    });
    add_parameters();
    add("met (ms)", 0, [](const database::ResultKey&, const database::TunedResult& result) {
      return fmt::format("{:.6g}", result.time.seconds * 1e3);
    });
    add("+- %", 2, [](const database::ResultKey&, const database::TunedResult& result) { return width_text(result); });
    add_ratios();
    add_unless_common("date", 1,
                      [](const database::ResultKey&, const database::TunedResult& result) { return result.date; });
  }

  std::string text() const {
    std::string text;
    for (const std::string& line : common_)
      for (const std::string& part : report::wrapped(line, static_cast<std::size_t>(width_), 2)) text += part + "\n";
    return text + report::grid_text(report::fitted(columns_, static_cast<std::size_t>(width_)).columns);
  }

 private:
  static std::string width_text(const database::TunedResult& result) {
    const auto width = relative_width(result.time);
    return width ? fmt::format("{:.2f}", 100 * *width) : "-";
  }

  template <typename Text>
  std::vector<std::string> cells(Text text) const {
    std::vector<std::string> cells;
    for (const auto* row : rows_) {
      const std::string cell = line_with_escapes(text(row->first, row->second));
      cells.push_back(cell.empty() ? "-" : cell);
    }
    return cells;
  }

  /// `leaves`: see report::FittedColumn.
  void add(const std::string& title, int leaves, std::vector<std::string> cells) {
    columns_.push_back({leaves, title == kNames, {title, columns_.empty() ? 1U : 2U, std::move(cells)}});
  }
  template <typename Text>
  void add(const std::string& title, int leaves, Text text) {
    add(title, leaves, cells(text));
  }
  template <typename Text>
  void add_unless_common(const std::string& title, int leaves, Text text) {
    std::vector<std::string> all = cells(text);
    if (std::ranges::any_of(all, [&](const std::string& cell) { return cell != all.front(); }))
      add(title, leaves, std::move(all));
    else if (all.front() != "-")
      common_.push_back(title + ": " + all.front());
  }

  void add_parameters() {
    std::vector<const std::vector<Setting>*> all;
    for (const auto* row : rows_) all.push_back(&row->second.params);
    const std::vector<Setting> common = common_settings(all);
    if (!common.empty()) common_.push_back("in all: " + line_with_escapes(to_text(common)));
    add(kNames, 0, [&](const database::ResultKey&, const database::TunedResult& result) {
      return to_text(without(result.params, common));
    });
  }

  void add_ratios() {
    std::vector<std::string> labels;
    for (const auto* row : rows_)
      for (const auto& [label, ratio] : row->second.ratios)
        if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
    for (const std::string& label : labels)
      add("x " + line_with_escapes(label), 3, [&](const database::ResultKey&, const database::TunedResult& result) {
        const auto found = std::ranges::find(result.ratios, label, &std::pair<std::string, double>::first);
        return found == result.ratios.end() ? "" : report::four_digits(found->second);
      });
  }

  static constexpr const char* kNames = "params";

  Rows rows_;
  int width_;
  std::vector<std::string> common_;
  std::vector<report::FittedColumn> columns_;
};

}  // namespace

ExitCode show_database(const ShowOptions& options) {
  if (options.number || options.sort || !options.columns.empty() || options.failed || options.effects ||
      options.chart || options.changes)
    throw Error(ExitCode::bad_input,
                fmt::format("{} is a database, which has only the best of each problem; give the journal of a run, or "
                            "drop --run, --sort, --columns, --failed, --effects, --chart and --changes",
                            options.run.string()));
  const database::Database database = database::read_database(options.run);
  Rows rows;
  for (const auto& result : database.results)
    if (!options.top || *options.top == 0 || rows.size() < *options.top) rows.push_back(&result);
  if (!rows.empty()) platform::print(DatabaseTable(rows, platform::terminal_columns(STDOUT_FILENO)).text());
  platform::print(plural(database.results.size(), "result") + " and " + plural(database.rules.size(), "rule") + "\n");
  return ExitCode::ok;
}

}  // namespace tune::commands
