#include "report/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

}  // namespace

std::vector<Row> rows_of_specs(const Summary& summary) {
  std::vector<Row> rows;
  for (const Ranked& ranked : summary.ranking.rows) {
    Row row{&ranked.trial->spec, nullptr, *ranked.timed().measurement(), nullptr, summary.winner && rows.empty(),
            ranked.on_front};
    if (ranked.same_as != nullptr) row.same_as = &ranked.same_as->spec;
    row.failed_in_finals = ranked.failed_in_finals != nullptr;
    if (ranked.finals_result) {
      row.finals_result = &*ranked.finals_result;
      row.measurement.timing = timing_of(*ranked.finals_result);
      row.measurement.metrics = ranked.finals_result->metrics;
    }
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

}  // namespace tune::report
