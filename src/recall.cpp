#include "recall.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tune {
namespace {

// Whoever asks for one spec, or for what failed specs leave, wants to see it fail.
bool wants_failures_again(const Options& options) { return options.retry_failed || options.spec || options.keep; }

bool cuts_slow_specs(const Options& options, const Objective& objective, const Plan& plan) {
  return options.tune && (objective.follows_time() || objective.follows_energy()) && plan.measure.cutoff > 0;
}

const BuildInfo* build_of(const Outcome& outcome) {
  if (const auto* measurement = std::get_if<Measurement>(&outcome)) return &measurement->build;
  const auto* pruned = std::get_if<PrunedAfterBuild>(&outcome);
  return pruned != nullptr ? &pruned->build : nullptr;
}

// A scaled time is that of the first device of the run that measured it, which for another's is taken to be this one.
bool is_of_another(const Trial& trial, const std::string& id) {
  const Measurement* measurement = trial.measurement();
  if (!trial.recorded || measurement == nullptr || measurement->device.empty()) return false;
  return (measurement->device == id) == (measurement->scaled != 1);
}

}  // namespace

bool has_lapsed(const Failure& failure, bool repeated, double timeout_build, double timeout_run) {
  const FailureFacts& facts = failure.facts;
  if (facts.limit_seconds > 0)
    return facts.limit_seconds < (failure.stage == Stage::build ? timeout_build : timeout_run);
  return !repeated && facts.machine_suspected;
}

std::optional<Trial> recall(const Spec& spec, const Journal& journal, const Requests& requests,
                            const Objective& objective, const Options& options) {
  const std::string id = requests.trial_id(spec);
  const wire::TrialRecord* record = journal.find(id);
  if (record == nullptr) return std::nullopt;
  Trial trial = record->trial;
  trial.spec = spec;
  const Failure* failure = trial.failure();
  if (failure && (wants_failures_again(options) ||
                  has_lapsed(*failure, journal.repeats(id), options.timeout_build, options.timeout_run)))
    return std::nullopt;
  const Measurement* measurement = trial.measurement();
  if (measurement != nullptr && measurement->shared && !options.share_processes) return std::nullopt;
  if (measurement != nullptr && measurement->timing.stopped_early &&
      !cuts_slow_specs(options, objective, requests.plan()))
    return std::nullopt;
  const BuildInfo* build = build_of(trial.outcome);
  if (build == nullptr) return trial;
  if (auto reason = requests.pruned_after_build(spec, *build))
    trial.outcome = PrunedAfterBuild{std::move(*reason), BuildInfo(*build)};
  else if (measurement == nullptr)
    return std::nullopt;
  return trial;
}

Failure run_ended_while_it_ran() {
  return {Stage::measure,
          Cause::crashed,
          "the run ended while it ran\nThat happened to two runs, so it is taken for the cause.",
          {}};
}

std::optional<Trial> recall_ends(const Spec& spec, const Journal& journal, const Requests& requests,
                                 const Options& options) {
  if (wants_failures_again(options) || journal.ends_of(requests.trial_id(spec)) < kMostEnds) return std::nullopt;
  return Trial{spec, run_ended_while_it_ran()};
}

std::string note_on_other_device(std::span<const Trial> trials, const std::string& id) {
  const auto others = std::ranges::count_if(trials, [&](const Trial& trial) { return is_of_another(trial, id); });
  if (id.empty() || others == 0) return "";
  return fmt::format(
      "{} of the times are from the journal and of another card than this run's, {}; cards of one model differ by per "
      "cents: another --output times all on this one",
      others, id);
}

}  // namespace tune
