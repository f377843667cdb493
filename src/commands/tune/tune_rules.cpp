#include "commands/tune/tune_rules.h"

#include <algorithm>
#include <deque>

#include "commands/tune/rules.h"
#include "exec/device/queue_rules.h"
#include "results/comparison.h"
#include "search/listed.h"
#include "tuning/memory_bound.h"
#include "tuning/stored_baseline.h"
#include "tuning/workload.h"

namespace tune::commands {
namespace {

constexpr std::int64_t kSearchedPerDevice = 4;  // keeps builds ahead of the device, and the search informed

std::chrono::steady_clock::duration ticks(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

report::Progress::Time now() { return std::chrono::steady_clock::now(); }

bool repeats_result(const TuneOptions& options, const Target& target) {
  return target.loaded.result && !options.tune && !options.audited;
}

std::unique_ptr<search::Strategy> strategy_of(Target& target, const std::optional<tuning::Grid>& grid,
                                              results::Notices& notes) {
  const Job& job = target.job;
  if (job.only.empty()) {
    tuning::SearchRules rules = job.search;
    rules.say = [&notes](const std::string& text) { notes.said(text); };
    if (grid) rules.first = tuning::specs_among(*grid, job.first, job.shape().value_or(config::Shape{}));
    return tuning::strategy_for(rules, target.plan(), grid, target.objective,
                                [&]() -> const Device& { return target.hello().device; });
  }
  return std::make_unique<search::Listed>(std::deque<Spec>(job.only.begin(), job.only.end()));
}

std::int64_t count_of(const Job& job, const std::optional<tuning::Grid>& grid) {
  if (!job.only.empty()) return std::ssize(job.only);
  const std::int64_t count = job.search.spec ? 1 : grid->specs.size();
  return std::min(count, job.search.max_evals.value_or(count));
}

tuning::TunerRules tuner_rules(const TuneOptions& options, const Target& target,
                               const std::optional<tuning::Grid>& grid, const Device& device, std::size_t devices) {
  const tuning::SearchRules& search = target.job.search;
  tuning::TunerRules rules;
  rules.max_evals = search.max_evals;
  rules.time = options.time;
  rules.time_budget = search.time_budget;
  if (rules.time_budget && options.tune && options.finals.hold)
    *rules.time_budget -= std::min(*rules.time_budget / 4, options.finals.budget.value_or(tuning::kFinalsSeconds));
  if (search.stop_within)
    rules.enough = tuning::merit_near_memory_bound(*search.stop_within, target.plan(), target.objective, device);
  rules.cut_slow = options.tune && !target.job.in_full;
  rules.keep_going = options.keep_going;
  rules.jobs = options.measure.jobs;
  if (!search.spec && tuning::wants_search(search, grid->specs.size()))
    rules.most_out = kSearchedPerDevice * std::max<std::int64_t>(static_cast<std::int64_t>(devices), 1);
  return rules;
}

// One spec without anything to compare it with meets nobody in finals.
report::RunLimits limits_of(const TuneOptions& options, const Target& target, const tuning::TunerRules& rules,
                            std::int64_t count) {
  report::RunLimits limits;
  if (rules.time_budget) limits.sweep = now() + ticks(*rules.time_budget);
  if (target.job.search.time_budget) limits.run = now() + ticks(*target.job.search.time_budget);
  const bool several = options.tune && (count > 1 || !target.plan().baselines.empty());
  if (!options.finals.hold || (!several && !repeats_result(options, target))) return limits;
  limits.finals_seconds = options.finals.budget.value_or(tuning::kShortFinals);
  limits.finals_as_sweep = !options.finals.budget;
  return limits;
}

tuning::Work work_to_do(const TuneOptions& options, const Target& target, const std::optional<tuning::Grid>& grid,
                        bool has_build, std::int64_t count, std::size_t devices) {
  const report::RunLimits limits = limits_of(options, target, {}, count);
  tuning::Work work;
  work.specs = count;
  if (!has_build) work.builds = 0;
  if (has_build && grid) work.builds = tuning::count_builds(*grid, count);
  work.in_turn = exec::cores_are_the_device(target.plan().backend);
  work.jobs = options.measure.jobs;
  work.devices = static_cast<int>(std::max<std::size_t>(devices, 1));
  work.finals_seconds = limits.finals_seconds;
  work.finals_as_sweep = limits.finals_as_sweep;
  work.budget_seconds = target.job.search.time_budget;
  return work;
}

tuning::FinalsStageRules finals_rules(const TuneOptions& options, const Target& target, bool one_process,
                                      report::Progress::Time sweep_began, std::vector<exec::Contender> stored) {
  tuning::FinalsStageRules rules = options.finals;
  rules.seed = target.job.search.seed;
  rules.again = [&options, retry_failed = target.job.retry_failed](const Failure& failure, bool repeated) {
    return retry_failed || tuning::has_lapsed(failure, repeated, options.measure.deadlines.build.count(),
                                              options.measure.deadlines.run.count());
  };
  rules.one_process = one_process;
  rules.one_of_several = options.makes_several();
  rules.alone = repeats_result(options, target);
  rules.time_budget = target.job.search.time_budget;
  if (target.job.search.time_budget) rules.deadline = sweep_began + ticks(*target.job.search.time_budget);
  rules.accuracy = options.demands.accuracy.value_or(kAccuracy);
  rules.noise = options.demands.noise;
  if (!target.job.only.empty()) rules.finalists = static_cast<int>(target.job.only.size());
  if (target.job.baseline)
    rules.question = exec::Question{tuning::label_of_named(target.plan(), *target.job.baseline),
                                    options.threshold.value_or(results::ComparisonRules().threshold)};
  rules.stored = std::move(stored);
  return rules;
}

}  // namespace tune::commands
