#include "results/recorded_results.h"

#include <algorithm>
#include <limits>
#include <map>

#include "results/recorded_plan.h"
#include "results/results_record.h"

namespace tune::results {
namespace {

RecordedResults as_printed(const recording::JournalRun& run) {
  RecordedResults shown;
  shown.loaded.plan = plan_of(run);
  shown.outcome = outcome_of(run);
  shown.tuned = run.results->tuned;
  shown.time = run.results->time;
  shown.printed = true;
  shown.command = run.results->command;
  return shown;
}

/// The number that the run gave the spec, if it is known; else that in the space of what was recorded.
Trial trial_of(const recording::RecordedTrial& recorded, const Space& space) {
  const auto point = space.point(Spec{-1, recorded.settings});
  Trial trial{point ? space.spec(*point) : Spec{-1, recorded.settings}, recorded.outcome};
  for (const std::int64_t known : {recorded.listed_idx, recorded.mesh_idx})
    if (known >= 0) trial.spec.mesh_idx = known;
  trial.seconds = recorded.build_seconds + recorded.measure_seconds;
  return trial;
}

void take_default(TuningOutcome& outcome) {
  if (!outcome.finals) return;
  for (const Finalist& finalist : outcome.finals->finalists)
    if (finalist.entrant.is_default()) outcome.default_spec = finalist.entrant.spec;
}

}  // namespace

RecordedResults recorded_results(const recording::Recording& recording, const std::filesystem::path& file) {
  if (recording.run && recording.run->results) return as_printed(*recording.run);
  RecordedResults shown;
  shown.loaded = load_recorded_plan(recording, {file, {}, {}, {}});
  shown.command = {"tune", "--simulate", file.string()};
  shown.time = recording.time.value_or(TimeRule());
  for (const recording::RecordedTrial& trial : recording.trials) {
    shown.outcome.trials.push_back(trial_of(trial, shown.loaded.plan.space));
    shown.outcome.elapsed_seconds += shown.outcome.trials.back().seconds;
  }
  shown.outcome.finals = recording.finals;
  take_default(shown.outcome);
  if (recording.run) {
    const std::vector<std::string>& words = recording.run->begin.command;
    shown.tuned = recording.finals || std::ranges::find(words, "--tune") != words.end();
  }
  return shown;
}

void place_rows(report::Summary& summary, const recording::Recording& recording, bool by_time) {
  std::map<std::int64_t, const recording::RecordedTrial*> placed;
  for (const recording::RecordedTrial& trial : recording.trials)
    if (trial.place > 0) placed.emplace(trial.listed_idx, &trial);
  if (placed.empty()) return;
  const auto place_of = [&](const Ranked& row) {
    const auto found = placed.find(row.trial->spec.mesh_idx);
    return found == placed.end() ? std::numeric_limits<std::int64_t>::max() : found->second->place;
  };
  std::ranges::stable_sort(summary.ranking.rows, {}, place_of);
  double best = 0;
  for (Ranked& row : summary.ranking.rows) {
    const auto found = placed.find(row.trial->spec.mesh_idx);
    const double seconds = found == placed.end() ? 0 : found->second->finals_seconds;
    if (!(seconds > 0)) continue;
    if (best == 0) best = seconds;
    row.finals_result =
        FinalsResult{seconds, {}, 0, row.trial->measurement()->metrics, seconds / best, 0, {}, false, {}};
    if (by_time) row.objective = seconds;
  }
}

}  // namespace tune::results
