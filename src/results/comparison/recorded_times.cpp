#include "results/comparison/recorded_times.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "config/recorded/best_yaml.h"
#include "model/problem_size.h"
#include "model/statistics/objective.h"
#include "model/statistics/ranking.h"
#include "platform/files/file.h"
#include "recording/recording.h"

namespace tune::results {
namespace {

constexpr std::int64_t kFewestValues = 5;  // the interval of fewer is [min, max], and covers much less than 95 %

Estimate estimate(double seconds, const std::optional<Interval>& interval, std::int64_t values) {
  Estimate time{seconds};
  if (values >= kFewestValues && interval && interval->low > 0)
    time.interval = Interval{std::min(interval->low, seconds), std::max(interval->high, seconds)};
  return time;
}

Estimate estimate(const Timing& timing) {
  return estimate(timing.median, Interval{timing.ci_low, timing.ci_high}, timing.stopped_early ? 0 : timing.count);
}

Estimate estimate(const FinalsResult& finals_result) {
  return estimate(finals_result.time.seconds, finals_result.time.interval, finals_result.rounds);
}

std::string key_of(const Spec& spec) {
  std::set<std::string> settings;
  for (const Setting& setting : spec.params) settings.insert(setting.name + '=' + recording::exact_text(setting.value));
  std::string key;
  for (const std::string& setting : settings) key += setting + '\n';
  return key;
}

/// Specs of other grids in the same journal may have numbers that are taken: the newest keep theirs.
std::vector<Trial> numbered_trials(const recording::Recording& recording) {
  std::vector<Trial> trials;
  std::set<std::int64_t> taken;
  std::int64_t free = std::numeric_limits<std::int64_t>::max();
  for (auto recorded = recording.trials.rbegin(); recorded != recording.trials.rend(); ++recorded) {
    std::int64_t number = recorded->mesh_idx;
    if (number < 0 || !taken.insert(number).second) number = free--;
    trials.push_back({Spec{number, recorded->settings}, recorded->outcome, 0, true});
  }
  std::ranges::reverse(trials);
  return trials;
}

/// The recorded finals, if all who met there are among the trials, by the trials' numbers.
std::optional<Finals> finals_of(const recording::Recording& recording, const std::vector<Trial>& trials) {
  if (!recording.finals) return std::nullopt;
  std::map<std::string, std::int64_t> numbers;
  for (const Trial& trial : trials) numbers.emplace(key_of(trial.spec), trial.spec.mesh_idx);
  Finals finals = *recording.finals;
  drop_costs(finals);
  for (Finalist& finalist : finals.finalists) {
    if (!finalist.entrant.is_spec()) continue;
    const auto number = numbers.find(key_of(finalist.entrant.spec));
    if (number == numbers.end()) return std::nullopt;
    finalist.entrant.spec.mesh_idx = number->second;
  }
  return finals;
}

/// By the time, unless an `objective` says otherwise.
Ranking ranking_of(const std::vector<Trial>& trials, const Finals* finals, const Objective* objective) {
  std::vector<Merit> merits;
  for (const Trial& trial : trials) {
    const Measurement* measurement = trial.measurement();
    merits.push_back(measurement == nullptr                         ? Merit{}
                     : objective == nullptr || objective->by_time() ? Merit{measurement->timing.median}
                                                                    : objective->merit(trial.spec, *measurement));
  }
  const std::optional<Spec> today = finals != nullptr ? default_of(*finals) : std::nullopt;
  return rank(trials, merits, finals, same_code(trials, today));
}

/// Fills in what was found.
void fill_in(const std::vector<Trial>& trials, const Finals* finals, ProblemTimes& times,
             const Objective* objective = nullptr) {
  std::map<std::int64_t, std::size_t> places;
  for (const Trial& trial : trials) {
    SpecTimes spec{trial.spec, {}, {}};
    if (const Failure* wrong = wrong_result_of(finals, trial.spec.mesh_idx))
      spec.failure = wrong->headline();
    else if (const Measurement* measurement = trial.measurement())
      spec.sweep = estimate(measurement->timing);
    else if (const Failure* failure = trial.failure())
      spec.failure = failure->headline();
    else
      continue;  // pruned after the build: it was not to run
    places.emplace(trial.spec.mesh_idx, times.specs.size());
    times.specs.push_back(std::move(spec));
  }
  const Ranking ranking = ranking_of(trials, finals, objective);
  for (const Ranked& row : ranking.rows)
    if (row.finals_result && row.same_as == nullptr)
      times.specs[places.at(row.trial->spec.mesh_idx)].finals = estimate(*row.finals_result);
  for (const RankedBaseline& baseline : ranking.baselines)
    if (baseline.finals_result) times.baselines.emplace_back(baseline.entrant.name, estimate(*baseline.finals_result));
  if (!ranking.rows.empty()) times.best = places.at(ranking.rows.front().trial->spec.mesh_idx);
}

ProblemTimes times_of(const recording::Recording& recording) {
  ProblemTimes times{recording.kernel, recording.problem, recording.device.name, {}, {}, {}};
  const std::vector<Trial> trials = numbered_trials(recording);
  const std::optional<Finals> finals = finals_of(recording, trials);
  fill_in(trials, finals ? &*finals : nullptr, times);
  times.backend = recording.backend;
  if (recording.time) times.statistic = to_text(*recording.time);
  // A journal has all figures, and the median is the one whose interval is known.
  if (recording.format == recording::Recording::Format::journal) times.statistic = to_text(TimeRule());
  const bool has_medians = recording.time.value_or(TimeRule()) == TimeRule();
  if (recording.format == recording::Recording::Format::csv && !has_medians)
    for (SpecTimes& spec : times.specs)
      if (spec.sweep) spec.sweep->interval.reset();
  return times;
}

RecordedTimes times_of_best(const std::filesystem::path& path) {
  config::RecordedBest best = config::read_best(path);
  ProblemTimes times{std::move(best.kernel), std::move(best.problem), best.result.device, {}, 0, {},
                     best.result.statistic};
  times.specs.push_back(
      {std::move(best.spec), {}, estimate(best.result.time.seconds, best.result.time.interval, best.result.launches)});
  return {path.string(), {std::move(times)}, {}};
}

}  // namespace

RecordedTimes read_recorded_times(const std::filesystem::path& path) {
  if (platform::is_yaml(path)) return times_of_best(path);
  RecordedTimes run{path.string(), {}, {}};
  for (const recording::Recording& recording : recording::read_recordings(path)) {
    if (run.problems.empty()) run.notes = recording.damaged.texts(recording.file);
    if (recording.has_older_finals)
      run.notes.push_back(recording.file + ": its finals are ignored, because an older version of tune recorded them");
    if (recording.format == recording::Recording::Format::journal) run.protocol = recording.protocol;
    ProblemTimes times = times_of(recording);
    std::erase_if(run.problems, [&](const ProblemTimes& other) {
      return other.kernel == times.kernel && other.problem == times.problem;  // on a device that was used before
    });
    run.problems.push_back(std::move(times));
  }
  return run;
}

RecordedTimes recorded_times_of(const Plan& plan, const Device& device, const TuningOutcome& outcome) {
  ProblemTimes times{plan.name, problem_size_text(plan.problem, plan.constants), device.name, {}, {}, {}};
  const Objective objective(plan);
  fill_in(outcome.trials, outcome.finals.held(), times, &objective);
  times.backend = plan.backend();
  times.statistic = to_text(TimeRule());
  return {"this run", {std::move(times)}, {}, wire::kProtocol};
}

}  // namespace tune::results
