#include "commands/results/show.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "cli/command_line.h"
#include "commands/common_options.h"
#include "commands/print_messages.h"
#include "database/database_file.h"
#include "model/command.h"
#include "model/values/escaped_text.h"
#include "platform/files/file.h"
#include "platform/files/streams.h"
#include "recording/earlier_runs.h"
#include "recording/journal.h"
#include "report/recorded/insights.h"
#include "report/recorded/listing.h"
#include "report/table.h"
#include "results/recorded_plan.h"
#include "results/results.h"

namespace tune::commands {
namespace {

/// `met:desc` sorts by `met`, largest first.
void set_sort(ShowOptions& show, std::string column) {
  constexpr std::string_view kDescending = ":desc";
  show.descending = column.ends_with(kDescending);
  if (show.descending) column.resize(column.size() - kDescending.size());
  show.sort = std::move(column);
}

void bind(cli::Command& command, ShowOptions& options) {
  command
      .path("RUN", options.run, "FILE",
            "PREFIX of a run's --output, or a journal, CSV file or other recorded run (default: the last run)")
      .files(kRecordings);
  command.flag("--list", options.list, "The journals of runs without --output, newest first");
  command.whole("--run", options.number, 1, "N", "Which run of a journal; the first is 1 (default: the last)");
  bind_top(command, options.top, "Specs that are shown, or all (default: 20)");
  command.value(
      "--sort", [&options](const std::string& text) { set_sort(options, text); }, "NAME",
      "Only the table, sorted by this column; NAME:desc puts the largest first");
  command.comma_list("--columns", options.columns, "NAME,NAME",
                     "Only the table, with these columns: met,GFLOPS/s,BM,registers");
  command.flag("--failed", options.failed, "Specs that failed, by reason; with --top all each one");
  command.flag("--effects", options.effects, "What each parameter and each of its values does");
  command.flag("--chart", options.chart, "The specs as bars");
  command.flag("--changes", options.changes, "What would make another spec the winner");
}

/// `best.yaml` means the journal `best.jsonl`, and so does `best`. `best-M64-N64-K64` means one shape of it.
recording::ShapeOfJournal recording_of(const ShowOptions& options) {
  const auto is_file = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
  };
  const bool is_result = platform::is_yaml(options.run);
  const std::filesystem::path prefix = is_result ? options.run.parent_path() / options.run.stem() : options.run;
  const std::filesystem::path journal = prefix.string() + ".jsonl";
  const std::filesystem::path file = is_result ? journal : recording::run_file(prefix);
  if (is_file(file)) return {file, ""};
  if (const auto shape = recording::shape_of_journal(prefix)) return *shape;
  const std::filesystem::path nearest = platform::nearest_file(journal, std::array<std::string_view, 1>{".jsonl"});
  if (!nearest.empty())
    throw Error(ExitCode::bad_input,
                fmt::format("there is no run {}, did you mean '{}'?", options.run.string(), nearest.string()));
  std::error_code ignored;
  const std::string why =
      std::filesystem::exists(options.run, ignored)
          ? fmt::format("{} is no run, and there is no journal {} of it", options.run.string(), journal.string())
          : fmt::format("there is no run {}: neither this file nor {} is there", options.run.string(),
                        journal.string());
  throw Error(ExitCode::bad_input, why + "; give the journal, CSV file, Kernel Tuner cache or T4 results of a run");
}

/// `2026-11-22 10:44 UTC`
std::string minute_of(const std::string& date) { return date.empty() ? "" : ", of " + date.substr(0, 16) + " UTC"; }

void say_what_is_shown(const recording::Recording& recording, const results::RecordedResults& shown) {
  for (const std::string& text : recording.damaged.texts(recording.file)) print_wrapped("note: " + text);
  if (!recording.run) return;
  const recording::JournalRun& run = *recording.run;
  if (run.count > 1)
    print_wrapped(fmt::format("note: this is run {} of {} in {}{}{}; --run N shows another", run.number, run.count,
                              recording.file, run.begin.shape.empty() ? "" : ", for " + run.begin.shape,
                              minute_of(run.begin.date)));
  if (!shown.printed)
    print_wrapped(
        fmt::format("note: {} does not have what the run printed, because it goes on, was killed, or is of an older "
                    "version of tune; this is put together from its trials so far",
                    recording.file));
}

/// The values of the objective; failed specs have none.
std::vector<report::Judged> judged(const report::Summary& summary) {
  std::vector<report::Judged> all;
  for (const Ranked& row : summary.ranking.rows)
    if (std::isfinite(row.objective)) all.push_back({&row.trial->spec, row.objective});
  for (const Trial& trial : summary.trials)
    if (trial.failure() != nullptr) all.push_back({&trial.spec, std::nullopt});
  return all;
}

report::MeritUnit unit_of(const Objective& objective, const report::Summary& summary) {
  if (objective.name() == "time") return {};
  const Ranked& best = summary.ranking.rows.front();
  return {objective.name(), 1, objective.merit(best.trial->spec, *best.timed().measurement()).maximize};
}

/// The sections that were asked for; empty: none was.
std::string sections(const ShowOptions& options, const report::Summary& summary, const Objective& objective) {
  std::string text;
  const auto add = [&](const std::string& section) { text += (text.empty() ? "" : "\n") + section; };
  if (options.sort || !options.columns.empty())
    add(report::listing_text(summary, {options.columns, options.sort, options.descending}));
  if (options.failed) add(report::failures_text(summary, summary.top));
  if (!options.effects && !options.chart && !options.changes) return text;
  if (summary.ranking.rows.empty())
    throw Error(ExitCode::none_valid, "no spec of this run has a result that could be compared; --failed lists why");
  const report::MeritUnit unit = unit_of(objective, summary);
  if (options.chart) add(report::chart_text(summary, unit));
  if (options.effects)
    add(report::effects_text(report::effects_of(judged(summary), unit.maximize), unit, summary.width));
  if (options.changes) add(report::changes_text(summary, unit));
  return text;
}

ExitCode list_runs() {
  std::string text;
  for (const recording::EarlierRun& run : recording::earlier_runs()) {
    text += fmt::format("{}  {:>9}  {}\n", minute_text(run.changed), bytes_text(run.bytes), run.journal.string());
    auto begun = recording::Journal::last_run_of(run.journal);
    if (!begun || begun->command.empty()) continue;
    begun->command.front() = std::filesystem::path(begun->command.front()).filename().string();
    text += "    " + line_with_escapes(typed_line(begun->command)) + "\n";
  }
  print_lines(text.empty() ? "no run without --output has left a journal\n" : text);
  return ExitCode::ok;
}

ShowOptions of_last_run(ShowOptions options) {
  options.run = last_journal();
  return options;
}

ExitCode show(const ShowOptions& options) {
  if (options.list && !options.run.empty())
    throw Error(ExitCode::bad_input, "--list names runs, and shows none; leave out " + options.run.string());
  if (options.list) return list_runs();
  if (options.run.empty()) return show(of_last_run(options));
  if (database::is_database(options.run)) return show_database(options);
  const auto [file, shape] = recording_of(options);
  const recording::Recording recording =
      recording::read_run(file, {options.number, false, options.number ? "" : shape});
  const results::RecordedResults shown = results::recorded_results(recording, file);
  say_what_is_shown(recording, shown);

  TerminalOptions looks;
  looks.top = options.top;
  results::ResultsRules rules = printed_results(looks);
  rules.command = shown.command;
  rules.tuned = shown.tuned;
  rules.time = shown.time;
  rules.problem = recording.problem;
  const auto& run = recording.run;
  if (run && run->begin.shape.empty() && run->number == run->count) rules.journal = file;
  const Objective objective(shown.loaded.plan);
  const results::Results results(rules, shown.loaded, objective, shown.outcome);
  report::Summary summary = results.summary();
  results::place_rows(summary, recording, objective.name() == "time");
  const std::string asked = sections(options, summary, objective);
  if (asked.empty())
    platform::print_escaped(report::result_text(summary));
  else
    platform::print(asked);
  return ExitCode::ok;
}

}  // namespace

std::filesystem::path last_journal() {
  const auto journal = recording::last_run();
  if (!journal)
    throw Error(ExitCode::bad_input, "there is no earlier run to show; give the journal, PREFIX or CSV file of one");
  print_wrapped("note: the last run: " + journal->string());
  return *journal;
}

extern const cli::CommandSpec kShow =
    cli::command_spec<ShowOptions, bind, show>("show", "Show the results of an earlier run again");

}  // namespace tune::commands
