#include "report/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "model/command.h"
#include "model/values/escaped_text.h"
#include "model/values/text.h"
#include "report/columns.h"
#include "report/failure_summary.h"
#include "report/shown_text.h"
#include "report/text_page.h"

namespace tune::report {
namespace {

/// What columns and the marks in the rows mean; nothing for those that are not there.
std::string legend(const Summary& summary, std::span<const Row> rows, std::span<const GridColumn> columns) {
  const auto any = [&](auto holds) { return std::any_of(rows.begin(), rows.end(), holds); };
  const auto finals = [](const Row& row) { return row.finals_result != nullptr; };
  std::string text;
  if (const std::size_t devices = devices_of(summary.trials); devices > 1) {
    text += fmt::format(
        "{} devices: times of the sweep are scaled to those of the first device, by a spec that each of them timed\n",
        devices);
  }
  if (any(finals) && !std::all_of(rows.begin(), rows.end(), finals)) {
    const auto count = std::count_if(rows.begin(), rows.end(), finals);
    text += fmt::format("finals: {} timed in turns; the others once, in the sweep\n",
                        count == 1 ? "1 row was" : fmt::format("{} rows were", count));
  }
  if (summary.time != TimeRule())
    text += fmt::format("met (ms): {} of a spec's launches{}\n", to_text(summary.time),
                        any(finals) ? "; of those in the finals, the median of their rounds" : "");
  for (const RankedBaseline& baseline : summary.ranking.baselines) {
    if (std::ranges::find(columns, "x " + baseline.entrant.name, &GridColumn::title) != columns.end())
      text += fmt::format("x {0}: how many times as fast as {0}, in the finals\n",
                          line_with_escapes(baseline.entrant.name));
  }
  if (any([](const Row& row) { return row.finals_result && row.finals_result->tie; })) {
    text += fmt::format("tie: as {} as the winner to {} %, beyond doubt\n", summary.ranked_by ? "good" : "fast",
                        kEquivalence * 100);
  }
  if (any([](const Row& row) { return row.failed_in_finals; })) {
    text += "failed in the finals: its time is the sweep's, and it cannot win\n";
  }
  if (any([](const Row& row) { return row.faster_in_sweep; })) {
    text += "sweep only: it was not in the finals, whose times are of another moment\n";
  }
  if (!summary.objectives.empty()) {
    const auto count = std::ranges::count_if(summary.ranking.rows, &Ranked::on_front);
    text += fmt::format("pareto: {} that none beats in one of {} without losing in another\n",
                        plural(static_cast<std::size_t>(count), "spec"),
                        line_with_escapes(fmt::format("{}", fmt::join(summary.objectives, ", "))));
  }
  if (any([](const Row& row) { return row.measurement.timing.stopped_early; })) {
    text += "early: slow, so timed with fewer launches; it takes at least the time shown\n";
  }
  if (any([](const Row& row) { return row.baseline == nullptr && !row.measurement.checked; })) {
    text += "checked: no: its output was not compared with a reference\n";
  }
  return text;
}

/// How many rows the table does not show, and where they are: without a file, the last line says it.
std::string hidden_text(std::size_t hidden, const Summary& summary) {
  if (summary.all_in.empty()) return fmt::format("({} more)", hidden);
  return fmt::format("({} more: {}, or the same command with --top all)", hidden, summary.all_in);
}

/// Returns how many rows it does not show.
std::size_t add_table(TextPage& page, const Summary& summary) {
  std::vector<Row> rows = rows_of_specs(summary);
  // The columns are the same whatever --top is.
  const OptionalColumns optional = needed_columns(rows);
  const std::size_t hidden = hide_rows(rows, summary);
  for (Row& baseline : rows_of_baselines(summary)) rows.push_back(std::move(baseline));
  if (rows.empty()) return 0;

  const SpecTable table = spec_table(summary, rows, optional);
  const std::vector<std::string> lines = grid_lines(table.columns);
  page.row(lines.front());
  for (std::size_t i = 0; i < rows.size(); ++i) page.row(lines[i + 1], style_of(rows[i]));
  page.prose(lacks_text(table));
  if (hidden > 0) page.prose(hidden_text(hidden, summary));
  page.prose(legend(summary, rows, table.columns));
  return hidden;
}

/// What a valid spec is does not depend on what becomes of it: it is one that no constraint prunes.
void add_counts(TextPage& page, const Summary& summary) {
  const auto tried = std::ssize(summary.trials);
  const auto measured =
      std::ranges::count_if(summary.trials, [](const Trial& trial) { return trial.measurement() != nullptr; });
  page.prose(
      fmt::format("Number of valid specs: {}", summary.tried_all() ? Natural(tried).text() : summary.specs->text()));
  if (!summary.tried_all()) page.prose(fmt::format("{} of {} tried", tried, summary.specs->text()));
  if (measured != tried) page.prose(fmt::format("{} of {} measured", measured, tried));
}

/// A value as a parameter's only one: the pair [2, 1] alone would read as two values.
std::string only_value(const Value& value) {
  return std::holds_alternative<Pair>(value) ? fmt::format("[{}]", to_yaml(value)) : to_yaml(value);
}

/// A recording's parameters may be called anything.
std::string key_text(const Setting& setting) {
  const std::string key = (setting.run_time ? "$" : "") + setting.name;
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return std::ranges::all_of(setting.name, plain) ? key : to_yaml(Value(key));
}

void add_best(TextPage& page, const Spec& best, const Summary& summary) {
  page.prose(fmt::format("top_spec_idx: {}", best.mesh_idx));
  page.rule();
  page.prose(fmt::format("Best Measured {}:", line_with_escapes(summary.ranked_by.value_or("Time"))));
  page.rule();
  page.whole("params:");
  for (const Setting& setting : best.params)
    page.whole(fmt::format("  {}: {}", key_text(setting), only_value(setting.value)));
  if (!summary.best_command.empty()) page.whole("command: " + line_with_escapes(summary.best_command));
}

void add_verdict(TextPage& page, const Summary& summary) {
  const bool is_sure = summary.decision != Decision::undecided && summary.decision != Decision::fail;
  for (const std::string& line : summary.verdict)
    page.prose(line, 4, is_sure || &line != &summary.verdict.front() ? kPlainStyle : kWarningStyle);
}

void add_losses(TextPage& page, const Summary& summary) {
  const LossLines pruned = pruned_lines(summary.pruned),
                  lost = loss_lines(summary.trials, summary.command, summary.logs),
                  unranked = unranked_lines(summary.unranked, summary.command);
  if (pruned.empty() && lost.empty() && unranked.empty()) return;
  page.rule();
  for (const LossLines* lines : {&pruned, &lost, &unranked}) page.losses(*lines);
  if (!summary.run.empty() && any_lost_alike(summary.trials))
    page.command("each of them:", typed_line({"tune", "show", summary.run, "--failed", "--top", "all"}));
}

}  // namespace

std::string result_text(const Summary& summary) {
  TextPage page(summary.width, summary.colors);
  add_verdict(page, summary);
  page.rule();
  page.prose(fmt::format("Tuning [{}] from [{}]", line_with_escapes(summary.name), line_with_escapes(summary.file)));
  if (!summary.problem.empty()) page.prose("problem: " + line_with_escapes(summary.problem));
  page.rule();
  add_counts(page, summary);
  const std::size_t hidden = add_table(page, summary);
  if (summary.tuned && summary.winner && !summary.ranking.rows.empty())
    add_best(page, summary.ranking.rows.front().trial->spec, summary);
  page.rule();
  page.prose(fmt::format("Elapsed tuning time: {:.1f} (s)", summary.elapsed_seconds));
  for (const std::string& note : summary.notes) page.prose("note: " + note);
  add_losses(page, summary);
  if (hidden > 0 && summary.all_in.empty())
    page.prose("the same command with --top all shows the other " + (hidden == 1 ? "spec" : plural(hidden, "spec")));
  return page.text();
}

}  // namespace tune::report
