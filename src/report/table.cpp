#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "model/values/shown.h"
#include "report/grid.h"
#include "report/losses.h"
#include "report/text.h"

namespace tune::report {
namespace {

/// What one row is made of, whether a spec's or a baseline's.
struct Row {
  const Spec* spec = nullptr;
  std::string label;  ///< of a baseline
  Measurement measurement;
  const Standing* standing = nullptr;
  bool on_front = false;
  const Spec* same_as = nullptr;
  bool failed_in_finals = false;
};

/// Finals are the better measurement and the only one baselines have, so their figures replace the sweep's.
Timing timing_of(const Standing& standing) {
  Timing timing;
  timing.count = standing.launches;
  timing.median = standing.median_seconds;
  timing.ci_low = standing.seconds_interval.low;
  timing.ci_high = standing.seconds_interval.high;
  return timing;
}

std::vector<Row> rows_of_specs(const Summary& summary) {
  std::vector<Row> rows;
  for (const Ranked& ranked : summary.ranking.rows) {
    Row row{&ranked.trial->spec, "", *ranked.timed().measurement(), nullptr, ranked.on_front};
    if (ranked.same_as != nullptr) row.same_as = &ranked.same_as->spec;
    row.failed_in_finals = ranked.failed_in_finals != nullptr;
    if (ranked.standing) {
      row.standing = &*ranked.standing;
      row.measurement.timing = timing_of(*ranked.standing);
      row.measurement.metrics = ranked.standing->metrics;
    }
    rows.push_back(std::move(row));
  }
  if (!summary.tuned) {
    std::sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) { return x.spec->mesh_idx < y.spec->mesh_idx; });
  } else if (summary.top > 0 && rows.size() > summary.top) {
    // The front is what was asked for, however far down it reaches.
    std::size_t place = 0;
    std::erase_if(rows, [&](const Row& row) { return ++place > summary.top && !row.on_front; });
  }
  return rows;
}

std::vector<Row> rows_of_baselines(const Summary& summary) {
  std::vector<Row> rows;
  for (const RankedBaseline& baseline : summary.ranking.baselines) {
    if (!baseline.standing) continue;
    Row row{&baseline.spec, baseline.label, {}, &*baseline.standing};
    row.measurement.timing = timing_of(*baseline.standing);
    row.measurement.metrics = baseline.standing->metrics;
    row.measurement.checked = true;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The parameters whose value is not the same in every row.
std::vector<std::string> varying_params(std::span<const Row> rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    for (const Setting& setting : row.spec->params) {
      if (std::find(names.begin(), names.end(), setting.name) == names.end()) names.push_back(setting.name);
    }
  }
  std::erase_if(names, [&](const std::string& name) {
    const Value* first = rows.front().spec->find(name);
    return first && std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
             const Value* value = row.spec->find(name);
             return value && *value == *first;
           });
  });
  return names;
}

std::string figure(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const bool fits = size == 0 || (size >= 1e-3 && size < 1e12);
  return fits ? fmt::format("{:.6f}", value) : fmt::format("{:.6g}", value);
}

/// Half the interval relative to the median. One launch has no spread, and a program tells none.
std::string spread_text(const Timing& timing) {
  if (timing.count < 2 || timing.ci_high == 0) return "-";
  return fmt::format("{:.2f}", (timing.ci_high - timing.ci_low) / 2 / timing.median * 100);
}

std::string mesh_text(const Row& row) { return row.spec->mesh_idx < 0 ? "-" : fmt::format("{}", row.spec->mesh_idx); }

std::string speed_up_text(const Row& row, const Standing& baseline) {
  return row.standing ? fmt::format("{:.3f}", baseline.ratio / row.standing->ratio) : "-";
}

std::string other_state_text(const Row& row) {
  return figure(row.standing ? row.standing->other_state_seconds.value_or(std::nan("")) * 1e3 : std::nan(""));
}

std::string note_text(const Row& row) {
  std::vector<std::string> notes;
  if (row.same_as != nullptr) notes.push_back(fmt::format("same code as {}", row.same_as->mesh_idx));
  if (row.failed_in_finals) notes.push_back("failed in the finals");
  if (row.on_front) notes.push_back("pareto");
  if (row.standing && row.standing->tie) notes.push_back("tie");
  if (row.measurement.timing.stopped_early) notes.push_back("early");
  if (row.label.empty() && !row.measurement.checked) notes.push_back("checked: no");
  return fmt::format("{}", fmt::join(notes, ", "));
}

template <class Text>
GridColumn column_of(std::string title, std::size_t gap, std::span<const Row> rows, Text text) {
  GridColumn column{std::move(title), gap, {}};
  for (const Row& row : rows) column.cells.push_back(text(row));
  return column;
}

/// `gemm/BM=128/BN=64`, or without the prefix where the table is too wide for the terminal.
GridColumn name_column(std::span<const Row> rows, std::span<const std::string> varying, const std::string& prefix) {
  return column_of("name", 1, rows, [&](const Row& row) {
    if (!row.label.empty()) return row.label;
    const std::string settings = settings_text(*row.spec, varying);
    if (prefix.empty() || settings.empty()) return prefix + settings;
    return prefix + "/" + settings;
  });
}

std::vector<GridColumn> columns_of(const Summary& summary, std::span<const Row> rows, GridColumn names) {
  std::vector<GridColumn> columns;
  columns.push_back(column_of("mesh_idx", 1, rows, mesh_text));
  columns.push_back(std::move(names));
  if (any_named_otherwise(summary.trials, summary.name))
    columns.push_back(column_of(kReportedName, 2, rows, [](const Row& row) { return row.measurement.name; }));
  columns.push_back(
      column_of("met (ms)", 2, rows, [](const Row& row) { return figure(row.measurement.timing.median * 1e3); }));
  columns.push_back(
      column_of("iters", 2, rows, [](const Row& row) { return fmt::format("{}", row.measurement.timing.count); }));
  for (const Column& metric : summary.columns) {
    if (!metric.in_table) continue;
    columns.push_back(column_of(metric.name, 2, rows,
                                [&](const Row& row) { return figure(metric.value(*row.spec, row.measurement)); }));
  }
  if (std::ranges::any_of(rows, [](const Row& row) { return row.standing && row.standing->other_state_seconds; }))
    columns.push_back(column_of(fmt::format("{} ms", to_text(summary.other_state)), 2, rows, other_state_text));
  columns.push_back(column_of("+- %", 2, rows, [](const Row& row) { return spread_text(row.measurement.timing); }));
  for (const RankedBaseline& baseline : summary.ranking.baselines) {
    if (!baseline.standing) continue;
    columns.push_back(column_of("x " + baseline.label, 2, rows,
                                [&](const Row& row) { return speed_up_text(row, *baseline.standing); }));
  }
  GridColumn notes = column_of("note", 2, rows, note_text);
  const bool any = std::any_of(notes.cells.begin(), notes.cells.end(), [](const auto& cell) { return !cell.empty(); });
  if (any) columns.push_back(std::move(notes));
  return columns;
}

/// What the marks in the rows mean; nothing for marks that are not there.
std::string legend(const Summary& summary, std::span<const Row> rows) {
  const auto any = [&](auto holds) { return std::any_of(rows.begin(), rows.end(), holds); };
  const auto finals = [](const Row& row) { return row.standing != nullptr; };
  std::string text;
  if (const std::size_t devices = devices_of(summary.trials); devices > 1) {
    text += fmt::format(
        "{} devices: times of the sweep are scaled to those of the first device, by a spec that each of them timed\n",
        devices);
  }
  if (any(finals) && !std::all_of(rows.begin(), rows.end(), finals)) {
    text += fmt::format("finals: {} rows were timed in turns; the others once, in the sweep\n",
                        std::count_if(rows.begin(), rows.end(), finals));
  }
  if (summary.finals_interrupted)
    text += "finals: interrupted, so the best may be another spec; the same command holds them again\n";
  for (const RankedBaseline& baseline : summary.ranking.baselines) {
    if (baseline.standing)
      text += fmt::format("x {0}: how many times as fast as {0}, in the finals\n", shown_line(baseline.label));
  }
  if (any([](const Row& row) { return row.standing && row.standing->tie; })) {
    text += fmt::format(
        "tie: shown to be as fast as the fastest to {} %; the default is taken, or else the lowest "
        "mesh_idx\n",
        kEquivalence * 100);
  }
  if (any([](const Row& row) { return row.failed_in_finals; })) {
    text += "failed in the finals: its time is the sweep's; ranked behind those that came through\n";
  }
  if (!summary.objectives.empty()) {
    const auto count = std::ranges::count_if(summary.ranking.rows, &Ranked::on_front);
    text += fmt::format("pareto: {} specs that none beats in one of {} without losing in another\n", count,
                        shown_line(fmt::format("{}", fmt::join(summary.objectives, ", "))));
  }
  if (any([](const Row& row) { return row.measurement.timing.stopped_early; })) {
    text += "early: slow, so timed with fewer launches; ranked after the others\n";
  }
  if (any([](const Row& row) { return row.label.empty() && !row.measurement.checked; })) {
    text += "checked: no: its output was not compared with a reference\n";
  }
  return text;
}

std::string table_text(const Summary& summary) {
  const std::vector<Row> specs = rows_of_specs(summary);
  const std::vector<std::string> varying = specs.empty() ? std::vector<std::string>{} : varying_params(specs);
  std::vector<Row> rows = specs;
  for (Row& baseline : rows_of_baselines(summary)) rows.push_back(std::move(baseline));
  if (rows.empty()) return "";

  std::vector<GridColumn> columns = columns_of(summary, rows, name_column(rows, varying, summary.name));
  if (summary.width > 0 && grid_width(columns) > static_cast<std::size_t>(summary.width) && !varying.empty()) {
    columns = columns_of(summary, rows, name_column(rows, varying, ""));
  }
  std::string text = grid_text(columns);
  if (const std::size_t hidden = summary.ranking.rows.size() - specs.size(); hidden > 0) {
    text += fmt::format("({} more)\n", hidden);
  }
  return text + legend(summary, rows);
}

std::string rule() { return std::string(80, '-') + '\n'; }

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

std::string best_text(const Spec& best, const std::string& command) {
  std::string text = fmt::format("top_spec_idx: {}\n{}Best Measured Time:\n{}params:\n", best.mesh_idx, rule(), rule());
  for (const Setting& setting : best.params) {
    text += fmt::format("  {}: {}\n", key_text(setting), only_value(setting.value));
  }
  if (!command.empty()) text += fmt::format("command: {}\n", shown_line(command));
  return text;
}

}  // namespace

std::string result_text(const Summary& summary) {
  std::string text =
      fmt::format("{0}Tuning [{1}] from [{2}]\n{0}", rule(), shown_line(summary.name), shown_line(summary.file));
  text += fmt::format("Number of valid specs: {}\n", summary.ranking.rows.size());
  text += table_text(summary);
  if (summary.tuned && !summary.ranking.rows.empty())
    text += best_text(summary.ranking.rows.front().trial->spec, summary.best_command);
  text += fmt::format("{}Elapsed tuning time: {:.1f} (s)\n", rule(), summary.elapsed_seconds);
  for (const std::string& warning : summary.warnings) text += fmt::format("warning: {}\n", warning);
  for (const std::string& note : summary.notes) text += fmt::format("note: {}\n", note);
  const std::string losses = pruned_text(summary.pruned) + losses_text(summary.trials, summary.command, summary.logs) +
                             unranked_text(summary.unranked, summary.command);
  return losses.empty() ? text : text + rule() + losses;
}

}  // namespace tune::report
