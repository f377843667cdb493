#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/database/database_runs.h"
#include "commands/print_messages.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"
#include "platform/process/terminal.h"
#include "recording/recording.h"
#include "report/recorded/comparison_text.h"
#include "results/comparison/run_comparison.h"
#include "wire/json.h"

namespace tune::commands {
namespace fs = std::filesystem;
namespace {

/// `tune diff`.
struct DiffOptions {
  fs::path before, now;
  std::optional<double> threshold;  ///< 0.03: changes of up to 3 % are no regressions
  std::optional<fs::path> markdown, junit, json;
  std::optional<std::size_t> top;  ///< specs of each shape in the text; 0: all
  bool any_device = false;         ///< the two may be of different devices
  int exit_undecided = static_cast<int>(ExitCode::undecided);
};

void bind(cli::Command& command, DiffOptions& options) {
  const char* what =
      "PREFIX of a run's --output, best YAML, database, journal, CSV or other recorded run; may be .gz or .bz2";
  command.path("OLD", options.before, "FILE", what).required().files(kResultFiles);
  command.path("NEW", options.now, "FILE", what).required().files(kResultFiles);
  command.share("--threshold", options.threshold,
                "Exit with 3 if something is slower by more than this beyond doubt, 5 if that is open (default: 3%)");
  bind_exit_undecided(command, options.exit_undecided);
  command.path("--markdown", options.markdown, "FILE", "Write a summary for a page of a CI service");
  command.path("--junit", options.junit, "FILE", "Write JUnit XML, a test case per spec");
  command.path("--json", options.json, "FILE", "Write all that was compared");
  bind_top(command, options.top, "Specs of each shape in the table, or all (default: 20)");
  command.flag("--any-device", options.any_device, "Compare although the results are of different devices");
  command.then([&options] {
    for (fs::path* run : {&options.before, &options.now}) *run = recording::run_file(*run);
  });
}

using ordered_json = nlohmann::ordered_json;

ordered_json json_of(const Spec& spec) {
  ordered_json params = ordered_json::object();
  for (const Setting& setting : spec.params)
    params[(setting.run_time ? "$" : "") + setting.name] = ordered_json(nlohmann::json(setting.value));
  return params;
}

void add_time(ordered_json& row, const std::string& name, const std::optional<Estimate>& time) {
  if (!time) return;
  row[name + "_ms"] = time->seconds * 1e3;
  if (time->interval) row[name + "_interval_ms"] = {time->interval->low * 1e3, time->interval->high * 1e3};
}

ordered_json json_of(const ComparedSpec& compared) {
  ordered_json row = ordered_json::object();
  if (!compared.entrant.is_spec()) row["name"] = compared.entrant.name;
  if (compared.entrant.kind == Entrant::Kind::best) row["old_params"] = json_of(compared.old_spec);
  if (!compared.entrant.spec.params.empty()) row["params"] = json_of(compared.entrant.spec);
  add_time(row, "old", compared.before);
  add_time(row, "new", compared.now);
  if (compared.ratio) row["ratio"] = *compared.ratio;
  if (compared.interval) row["interval"] = {compared.interval->low, compared.interval->high};
  row["verdict"] = std::string(to_text(compared.change));
  row["regression"] = is_regression(compared.change);
  if (!compared.failure.empty()) row["failure"] = compared.failure;
  return row;
}

ordered_json json_of(const ComparedShape& shape) {
  ordered_json baselines = ordered_json::array(), specs = ordered_json::array();
  for (std::size_t i = 1; i < shape.best.size(); ++i) baselines.push_back(json_of(shape.best[i]));
  for (const ComparedSpec& row : shape.specs) specs.push_back(json_of(row));
  return {{"problem", shape.problem},
          {"process_noise", shape.process_noise},
          {"best", json_of(shape.best.front())},
          {"baselines", std::move(baselines)},
          {"specs", std::move(specs)}};
}

ordered_json json_of(const ComparedRun& run) {
  ordered_json j = {{"file", run.file}, {"kernel", run.kernel}, {"device", run.device}};
  if (!run.statistic.empty()) j["statistic"] = run.statistic;
  return j;
}

/// A comparison with all that was compared, for other programs: docs/comparing.md has its members.
std::string to_json(const RunComparison& comparison) {
  ordered_json shapes = ordered_json::array();
  for (const ComparedShape& shape : comparison.shapes) shapes.push_back(json_of(shape));
  const ordered_json all = {{"format", "tune diff"},
                            {"version", 1},
                            {"old", json_of(comparison.before)},
                            {"new", json_of(comparison.now)},
                            {"threshold", comparison.threshold},
                            {"regressions", regressions(comparison)},
                            {"undecided", is_slower(comparison) == Answer::open},
                            {"warnings", comparison.warnings},
                            {"shapes", std::move(shapes)}};
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

constexpr std::size_t kShortList = 20;

/// Whether the two are one file, or a copy of it.
bool same_record(const fs::path& before, const fs::path& now) {
  std::error_code ignored;
  if (fs::equivalent(before, now, ignored)) return true;
  const auto bytes = fs::file_size(before, ignored);
  return !ignored && bytes == fs::file_size(now, ignored) && !ignored &&
         platform::read_file(before) == platform::read_file(now);
}

/// Throws Error(bad_input) for a file that would be lost: an input, or what another option writes.
void check_outputs(const DiffOptions& options) {
  const fs::path inputs[] = {options.before, options.now};
  std::map<fs::path, const char*> written;
  for (const auto& [option, output] : {std::pair("--markdown", options.markdown), std::pair("--junit", options.junit),
                                       std::pair("--json", options.json)}) {
    if (!output) continue;
    must_not_be_input(*output, inputs);
    std::error_code ignored;  // whoever writes it says why it cannot be
    const auto [other, is_first] =
        written.emplace(fs::weakly_canonical(fs::absolute(*output, ignored), ignored), option);
    if (!is_first)
      throw Error(ExitCode::bad_input, fmt::format("{} and {} both write {}; give each a file of its own",
                                                   other->second, option, output->string()));
  }
}

ExitCode diff(const DiffOptions& options) {
  check_outputs(options);
  results::ComparisonRules rules;
  rules.threshold = options.threshold.value_or(rules.threshold);
  rules.any_device = options.any_device;
  rules.same_run = same_record(options.before, options.now);
  const results::RecordedTimes before = read_times(options.before), now = read_times(options.now);
  for (const results::RecordedTimes* run : {&before, &now})
    for (const std::string& note : run->notes) print_wrapped("note: " + note);
  const RunComparison comparison = results::compare(before, now, rules);
  const int width = platform::terminal_columns(STDOUT_FILENO);
  platform::print(report::comparison_text(comparison, options.top.value_or(kShortList), width));
  if (options.markdown)
    platform::write_file(*options.markdown, report::comparison_markdown(comparison, options.top.value_or(kShortList)));
  if (options.junit) platform::write_file(*options.junit, report::comparison_junit(comparison));
  if (options.json) platform::write_file(*options.json, to_json(comparison));
  const Answer answer = is_slower(comparison);
  if (answer == Answer::open) return with_exit_undecided(ExitCode::undecided, options.exit_undecided);
  return answer == Answer::yes ? ExitCode::check_failed : ExitCode::ok;
}

}  // namespace

extern const cli::CommandSpec kDiff = cli::command_spec<DiffOptions, bind, diff>(
    "diff", "Compare two results: what became slower, beyond noise and a limit");

}  // namespace tune::commands
