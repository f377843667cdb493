#include "report/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/settings.h"
#include "model/values/escaped_text.h"
#include "report/fitted_table.h"
#include "report/shown_text.h"

namespace tune::report {
namespace {

/// Finals are the better measurement and the only one baselines have, so their figures replace the sweep's.
Timing timing_of(const FinalsResult& finals_result) {
  Timing timing;
  timing.count = finals_result.launches;
  timing.median = finals_result.time.seconds;
  const Interval interval = finals_result.time.interval.value_or(Interval{});
  timing.ci_low = interval.low;
  timing.ci_high = interval.high;
  return timing;
}

/// What a column is: the others stay, and these leave a table that is too wide in this order.
enum Part { kOther, kOtherState, kLesserFigure, kSpread, kRatio, kFigure, kNote };

/// How the columns say what they say.
struct Form {
  bool run_name = true;      ///< names begin with the name of the run
  bool long_titles = true;   ///< `Arithmetic (GFLOPS/s)`, else `GFLOPS/s`
  bool iters = true;         ///< how often each was launched
  bool values_only = false;  ///< names are `128/64` below the title `BM/BN`, else `BM=128/BN=64`
};

/// From the widest to the narrowest.
constexpr Form kForms[] = {{}, {false}, {false, false}, {false, false, false}, {false, false, false, true}};

std::string six_decimals(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const bool fits = size == 0 || (size >= 1e-3 && size < 1e12);
  return fits ? fmt::format("{:.6f}", value) : fmt::format("{:.6g}", value);
}

std::string spread_text(const Timing& timing) {
  const auto width = timing.stopped_early ? std::nullopt : relative_width(estimate_of(timing));
  return width ? fmt::format("{:.2f}", *width * 100) : "-";
}

/// The table's columns in one form.
class Columns {
 public:
  /// `parameters`: those whose values are in the names.
  Columns(const Summary& summary, const std::vector<Row>& rows, OptionalColumns optional, Form form,
          std::span<const std::string> parameters)
      : summary_(&summary), rows_(&rows), optional_(optional), form_(form), parameters_(parameters) {}

  std::vector<FittedColumn> make() {
    add(kOther, "mesh_idx", mesh_text, 1);
    const bool values_only = form_.values_only && !parameters_.empty();
    add(
        kOther, values_only ? fmt::format("{}", fmt::join(parameters_, "/")) : "name",
        [this](const Row& row) { return name_of(row); }, 1);
    columns_.back().names = true;
    if (any_named_otherwise(summary_->trials, summary_->name))
      add(kOther, kReportedName, [](const Row& row) { return row.measurement.name; });
    add(kOther, "met (ms)", [this](const Row& row) { return time_text(row.measurement.timing); });
    if (form_.iters) add(kOther, "iters", iters_text);
    add_figures();
    if (optional_.other_state)
      add(kOtherState, fmt::format("{} ms", to_text(summary_->other_state)),
          [this](const Row& row) { return other_state_text(row); });
    add(kSpread, "+- %", [](const Row& row) { return spread_text(row.measurement.timing); });
    for (const RankedBaseline& baseline : summary_->ranking.baselines)
      if (baseline.finals_result)
        add(kRatio, "x " + baseline.entrant.name,
            [&](const Row& row) { return ratio_text(row, *baseline.finals_result); });
    if (optional_.note) add(kNote, "note", note_text);
    return std::move(columns_);
  }

 private:
  template <class Text>
  void add(Part part, std::string title, Text text, std::size_t gap = 2) {
    FittedColumn column{part, false, {std::move(title), gap, {}}};
    for (const Row& row : *rows_) column.grid.cells.push_back(text(row));
    columns_.push_back(std::move(column));
  }

  void add_figures() {
    bool first = true;
    for (const Column& column : summary_->columns) {
      if (!column.in_table) continue;
      const bool kept = std::exchange(first, false) || column.objective;
      add(kept ? kFigure : kLesserFigure, form_.long_titles || column.unit.empty() ? column.name : column.unit,
          [&](const Row& row) {
            const double value = column.value(*row.spec, row.measurement);
            return summary_->width > 0 ? whole_or_four_digits(value) : six_decimals(value);
          });
    }
  }

  std::string name_of(const Row& row) const {
    if (row.baseline != nullptr) return row.baseline->name;
    if (form_.values_only && !parameters_.empty()) return values_text(*row.spec, parameters_);
    const std::string settings = settings_text(*row.spec, parameters_);
    if (settings.empty()) return summary_->name;
    return form_.run_name ? summary_->name + "/" + settings : settings;
  }

  std::string figure(double value) const { return summary_->width > 0 ? four_digits(value) : six_decimals(value); }

  std::string time_text(const Timing& timing) const {
    return (timing.stopped_early ? "> " : "") + figure(timing.typical() * 1e3);
  }

  std::string ratio_text(const Row& row, const FinalsResult& baseline) const {
    if (!row.finals_result) return "-";
    const double ratio = baseline.ratio / row.finals_result->ratio;
    return summary_->width > 0 ? four_digits(ratio) : fmt::format("{:.3f}", ratio);
  }

  std::string other_state_text(const Row& row) const {
    return figure(row.finals_result ? row.finals_result->other_state_seconds.value_or(std::nan("")) * 1e3
                                    : std::nan(""));
  }

  const Summary* summary_;
  const std::vector<Row>* rows_;
  OptionalColumns optional_;
  Form form_;
  std::span<const std::string> parameters_;
  std::vector<FittedColumn> columns_;
};

/// Settings of varying parameters that the specs of all rows share; none if the specs differ in nothing.
std::vector<Setting> shared_settings(const Summary& summary, const std::vector<Row>& rows) {
  std::vector<const std::vector<Setting>*> all;
  for (const Row& row : rows)
    if (row.baseline == nullptr) all.push_back(&row.spec->params);
  if (all.empty()) return {};
  std::vector<Setting> shared = common_settings(all);
  std::erase_if(shared, [&](const Setting& setting) {
    return std::ranges::find(summary.varying, setting.name) == summary.varying.end();
  });
  return shared;
}

}  // namespace

std::vector<Row> rows_of_specs(const Summary& summary) {
  std::vector<Row> rows;
  for (const Ranked& ranked : summary.ranking.rows) {
    Row row{&ranked.trial->spec, nullptr, *ranked.timed().measurement(), nullptr, summary.winner && rows.empty(),
            ranked.on_front};
    if (ranked.same_as != nullptr) row.same_as = &ranked.same_as->spec;
    row.failed_in_finals = ranked.failed_in_finals != nullptr;
    row.measurement.timing = timing_of_figures(row.measurement.timing);
    if (ranked.finals_result) {
      row.finals_result = &*ranked.finals_result;
      row.measurement.timing = timing_of(*ranked.finals_result);
      row.measurement.metrics = ranked.finals_result->metrics;
    }
    row.faster_in_sweep = !summary.ranked_by && !rows.empty() && rows.front().finals_result != nullptr &&
                          row.finals_result == nullptr && !row.failed_in_finals &&
                          row.measurement.timing.typical() < rows.front().measurement.timing.typical();
    rows.push_back(std::move(row));
  }
  if (!summary.tuned)
    std::sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) { return x.spec->mesh_idx < y.spec->mesh_idx; });
  return rows;
}

std::vector<Row> rows_of_baselines(const Summary& summary) {
  std::vector<Row> rows;
  for (const RankedBaseline& baseline : summary.ranking.baselines) {
    if (!baseline.finals_result) continue;
    Row row{&baseline.entrant.spec, &baseline.entrant, {}, &*baseline.finals_result};
    row.measurement.timing = timing_of(*baseline.finals_result);
    row.measurement.metrics = baseline.finals_result->metrics;
    row.measurement.checked = true;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::size_t hide_rows(std::vector<Row>& specs, const Summary& summary) {
  if (!summary.tuned || summary.top == 0) return 0;
  // The front is what was asked for, however far down it reaches.
  std::size_t place = 0;
  return std::erase_if(specs, [&](const Row& row) { return ++place > summary.top && !row.on_front; });
}

std::string mesh_text(const Row& row) { return row.spec->mesh_idx < 0 ? "-" : fmt::format("{}", row.spec->mesh_idx); }

// Not known of the finals in a CSV file.
std::string iters_text(const Row& row) {
  return row.measurement.timing.count == 0 ? "-" : fmt::format("{}", row.measurement.timing.count);
}

std::string note_text(const Row& row) {
  std::vector<std::string> notes;
  if (row.same_as != nullptr) notes.push_back(fmt::format("same code as {}", row.same_as->mesh_idx));
  if (row.failed_in_finals) notes.push_back("failed in the finals");
  if (row.faster_in_sweep) notes.push_back("sweep only");
  if (row.on_front) notes.push_back("pareto");
  if (row.finals_result && row.finals_result->tie) notes.push_back("tie");
  if (row.measurement.timing.stopped_early) notes.push_back("early");
  if (row.baseline == nullptr && !row.measurement.checked) notes.push_back("checked: no");
  return fmt::format("{}", fmt::join(notes, ", "));
}

Style style_of(const Row& row) {
  Style style = row.failed_in_finals                          ? kFailedStyle
                : row.finals_result && row.finals_result->tie ? kTieStyle
                                                              : kPlainStyle;
  style.bold = row.best;
  return style;
}

OptionalColumns needed_columns(const std::vector<Row>& rows) {
  const auto has_other_state = [](const Row& row) {
    return row.finals_result && row.finals_result->other_state_seconds;
  };
  const auto has_note = [](const Row& row) { return !note_text(row).empty(); };
  return {std::ranges::any_of(rows, has_other_state), std::ranges::any_of(rows, has_note)};
}

std::string lacks_text(const SpecTable& table) {
  std::string text;
  if (!table.shared.empty()) text += "all specs shown have " + line_with_escapes(to_text(table.shared)) + "\n";
  if (!table.full_title.empty()) text += "names: " + line_with_escapes(table.full_title) + "\n";
  if (!table.left_out.empty())
    text += fmt::format("no room for {}; a wider terminal, or | cat, shows {}\n",
                        line_with_escapes(fmt::format("{}", fmt::join(table.left_out, ", "))),
                        table.left_out.size() == 1 ? "it" : "them");
  return text;
}

SpecTable spec_table(const Summary& summary, const std::vector<Row>& rows, OptionalColumns optional) {
  const auto room = static_cast<std::size_t>(summary.width);
  std::vector<FittedColumn> columns;
  for (const Form& form : kForms) {
    columns = Columns(summary, rows, optional, form, summary.varying).make();
    if (room == 0 || width_of_table(columns) <= room) break;
  }
  if (room == 0 || fits_with_cut_title(columns, room)) return {fitted(std::move(columns), room)};
  std::vector<Setting> shared = shared_settings(summary, rows);
  std::vector<std::string> others = summary.varying;
  std::erase_if(
      others, [&](const std::string& name) { return std::ranges::find(shared, name, &Setting::name) != shared.end(); });
  if (!shared.empty()) columns = Columns(summary, rows, optional, std::end(kForms)[-1], others).make();
  return {fitted(std::move(columns), room), std::move(shared)};
}

}  // namespace tune::report
