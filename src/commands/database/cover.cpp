#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <set>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/database_update.h"
#include "commands/database/recorded_slowdowns.h"
#include "commands/database/selection.h"
#include "commands/print_messages.h"
#include "config/shapes/shapes.h"
#include "database/database_file.h"
#include "model/settings.h"
#include "model/values/text.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "report/fitted_table.h"
#include "report/text_page.h"

namespace tune::commands {
namespace {

/// `tune cover`: finds the fewest binaries that are nearly as fast as the best of each size, and adds them to the
/// database with the rule that chooses among them.
struct CoverOptions {
  std::filesystem::path database;
  std::vector<std::filesystem::path> runs;
  SelectionOptions selection;
  double slowdown = 1.03;
  std::optional<std::filesystem::path> weights;
  std::optional<std::filesystem::path> output;
};

void bind(cli::Command& command, CoverOptions& options) {
  command.path("DB", options.database, "FILE", "The database, which gets the rule").required().files(kYamlFiles);
  command.several("RUN", options.runs, "FILE", "Journals of the tunings that its results are from")
      .required()
      .files(kRecordings);
  command
      .number_between("--slowdown", options.slowdown, 1, 100, "X",
                      "How much slower than the best of each size they may be")
      .shows_default();
  command.path("--weights", options.weights, "FILE", "A list of sizes with calls: how often each is needed")
      .files(kShapeFiles);
  bind_selection(command, options.selection, kTheOnlyDevice);
  command.path("--output,-o", options.output, "FILE", "Write the database with the rule to this file instead");
}

/// `calls:` of a list of sizes.
std::map<database::Sizes, double> weights_of(const CoverOptions& options) {
  std::map<database::Sizes, double> weights;
  if (!options.weights) return weights;
  for (const config::Shape& shape : config::read_shapes(*options.weights).shapes) {
    database::Sizes sizes;
    for (const char* name : {"m", "n", "k", "batch"})
      for (const Setting& setting : shape.settings)
        if (std::tolower(setting.name[0]) == name[0] && setting.name.size() == std::string_view(name).size() &&
            number_of(setting.value))
          sizes.emplace_back(name, static_cast<std::int64_t>(*number_of(setting.value)));
    weights[sizes] += shape.calls;
  }
  return weights;
}

void require_times(const commands::RecordedSlowdowns& recorded) {
  for (const std::string& note : recorded.notes) print_wrapped("note: " + note);
  if (recorded.without.empty()) return;
  std::vector<std::string> missing;
  for (const database::Sizes& sizes : recorded.without) missing.push_back(database::to_text(sizes));
  throw Error(ExitCode::bad_input,
              fmt::format("a cover is chosen by the times of many configurations for each size, and none of the given "
                          "runs has those of {}; give the journals (PREFIX.jsonl) of their tunings too, as in tune "
                          "cover DB.yaml best/*.jsonl",
                          fmt::join(missing, ", ")));
}

/// The slowdown of each size with the rule's configurations.
double covered_slowdown(const database::Slowdowns& table, const database::Cover& cover, std::size_t size) {
  return table.of[size][database::fastest_for(table, size, cover.chosen)];
}

double weighted_mean(const std::vector<double>& weights, const std::vector<double>& values) {
  return std::inner_product(weights.begin(), weights.end(), values.begin(), 0.0) /
         std::accumulate(weights.begin(), weights.end(), 0.0);
}

/// A row for each configuration with what tells them apart, below a line with what they have in common.
std::string configurations_text(const database::SizeRule& rule) {
  std::vector<report::GridColumn> columns = {{"use", 1, {}}, {"sizes", 2, {}}};
  std::vector<const std::vector<Setting>*> all;
  for (std::size_t use = 0; use < rule.configurations.size(); ++use) {
    const auto sizes = std::ranges::count(rule.table, use, &std::pair<const database::Sizes, std::size_t>::second);
    columns[0].cells.push_back(std::to_string(use));
    columns[1].cells.push_back(std::to_string(sizes));
    all.push_back(&rule.configurations[use].params);
  }
  const std::vector<Setting> common = common_settings(all);
  std::set<std::string> named;
  const auto add_column = [&](const Setting& setting) {
    if (!named.insert(setting.name).second) return;
    columns.push_back({(setting.run_time ? "$" : "") + setting.name, 2, {}});
    for (const std::vector<Setting>* params : all) {
      const auto found = std::ranges::find(*params, setting.name, &Setting::name);
      columns.back().cells.push_back(found == params->end() ? "-" : to_text(found->value));
    }
  };
  for (const std::vector<Setting>* params : all) std::ranges::for_each(without(*params, common), add_column);
  return (common.empty() ? "" : "in all: " + to_text(common) + "\n") + report::grid_text(columns);
}

std::string cover_text(const database::Slowdowns& table, const database::Cover& cover, const database::SizeRule& rule) {
  std::vector<double> slowdowns;
  for (std::size_t size = 0; size < table.sizes.size(); ++size)
    slowdowns.push_back(covered_slowdown(table, cover, size));
  const bool shared = cover.binaries < cover.chosen.size();
  std::string text = fmt::format(
      "{} of {} configurations{} for {} sizes; worst slowdown {:.3f}, mean {:.3f}; fewer{} {} suffice\n",
      cover.chosen.size(), table.configurations.size(),
      shared ? " in " + plural(cover.binaries, "binary", "binaries") : "", table.sizes.size(), rule.slowdown,
      weighted_mean(table.weights, slowdowns), shared ? " binaries" : "", cover.smallest ? "do not" : "may");
  text += configurations_text(rule);
  text += fmt::format("{:>4} {:>9}  sizes\n", "use", "slowdown");
  for (std::size_t size = 0; size < table.sizes.size(); ++size)
    text += fmt::format("{:>4} {:>9.3f}  {}\n", rule.table.at(table.sizes[size]), slowdowns[size],
                        database::to_text(table.sizes[size]));
  return text;
}

/// How good the tree is for sizes that it does not know.
std::string left_out_text(const database::Slowdowns& table, double limit) {
  const std::vector<double> slowdowns = database::left_out_slowdowns(table, limit);
  std::vector<double> weights, known;
  std::size_t worst = 0;
  for (std::size_t size = 0; size < slowdowns.size(); ++size) {
    if (!std::isfinite(slowdowns[size])) continue;
    if (known.empty() || slowdowns[size] > slowdowns[worst]) worst = size;
    weights.push_back(table.weights[size]);
    known.push_back(slowdowns[size]);
  }
  if (known.empty()) return "sizes that are left out: there are too few sizes to tell\n";
  std::string text =
      fmt::format("each size left out in turn: mean slowdown {:.3f} with the rule of the others, worst {:.3f} ({})",
                  weighted_mean(weights, known), slowdowns[worst], database::to_text(table.sizes[worst]));
  const std::size_t unknown = slowdowns.size() - known.size();
  if (unknown > 0)
    text += fmt::format("; for {} of {} the rule's choice failed or was not timed", unknown, slowdowns.size());
  return text + "\n";
}

ExitCode cover(const CoverOptions& options) {
  const database::Database database = database::read_database(options.database);
  const database::ResultGroup& group = the_group(database, options.selection);
  const commands::RecordedSlowdowns recorded =
      commands::read_slowdowns(database, group, options.runs, weights_of(options));
  require_times(recorded);
  const database::Slowdowns& table = recorded.table;
  const database::Cover cover = database::find_cover(table, database::all_sizes(table), options.slowdown);
  database::SizeRule rule = database::make_rule(table, cover);
  report::TextPage page(platform::terminal_columns(STDOUT_FILENO), false);
  page.prose(cover_text(table, cover, rule) + left_out_text(table, options.slowdown));
  platform::print(page.text());
  name_binaries(rule, recorded);
  if (!database::launches_are_known(database, group))
    print_wrapped(
        "note: only these sizes will get a configuration, because some results have no code:, the hash of "
        "how they were launched; tune retime writes it");
  set_rule(options.output.value_or(options.database), database, group, rule);
  return ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kCover = cli::command_spec<CoverOptions, bind, cover>(
    "cover", "Find few configurations that are nearly the best for all sizes");

}  // namespace tune::commands
