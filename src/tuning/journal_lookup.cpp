#include "tuning/journal_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/values/text.h"

namespace tune::tuning {
namespace {

bool accepts_early(const LookupRules& rules, const Objective& objective, const Plan& plan) {
  return rules.accept_early && (objective.follows_time() || objective.follows_energy()) && plan.measure.cutoff > 0;
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

/// `2026-11-21 10:44 UTC`.
std::string minute_of(const std::string& date) { return date.substr(0, 16) + " UTC"; }

/// An empty date is an unknown one, and the first of them.
std::string text_of_dates(const std::set<std::string>& dates) {
  const std::string &first = *dates.begin(), &last = *dates.rbegin();
  if (last.empty()) return "by runs that noted no date";
  if (first.empty()) return "by runs that noted no date, and by others until " + minute_of(last);
  if (minute_of(first) == minute_of(last)) return "by the run of " + minute_of(first);
  return "by runs from " + minute_of(first) + " to " + minute_of(last);
}

/// The recorded outcome of a spec, if it is valid; nullopt if the spec must be tried. A failure is not valid if
/// failures are to be tried again or if it has lapsed. A time that was stopped early is not valid if this run stops no
/// spec early. A time from a shared process is not valid if each spec of this run has its own process.
/// `prune_after_build` is evaluated again.
std::optional<Trial> recall_outcome(const Spec& spec, const recording::Journal& journal,
                                    const exec::RequestFactory& requests, const Objective& objective,
                                    const LookupRules& rules) {
  const auto* recorded = journal.find(requests.trial_id(spec));
  if (recorded == nullptr) return std::nullopt;
  Trial trial = recorded->result;
  trial.spec = spec;
  const Failure* failure = trial.failure();
  if (failure && (rules.failures_again || has_lapsed(*failure, recorded->repeats, rules.deadlines)))
    return std::nullopt;
  const Measurement* measurement = trial.measurement();
  if (measurement != nullptr && measurement->shared && !rules.share_processes) return std::nullopt;
  if (measurement != nullptr && measurement->timing.stopped_early && !accepts_early(rules, objective, requests.plan()))
    return std::nullopt;
  const BuildInfo* build = build_of(trial.outcome);
  if (build == nullptr) return trial;
  if (auto reason = requests.pruned_after_build(spec, *build))
    trial.outcome = PrunedAfterBuild{std::move(*reason), BuildInfo(*build)};
  else if (measurement == nullptr)
    return std::nullopt;
  return trial;
}

/// The failure of a spec that was running when two earlier runs crashed, see Journal::crashes_during; nullopt if the
/// spec must be tried.
std::optional<Trial> recall_crashes(const Spec& spec, const recording::Journal& journal,
                                    const exec::RequestFactory& requests, const LookupRules& rules) {
  if (rules.failures_again || journal.crashes_during(requests.trial_id(spec)) < kMostCrashes) return std::nullopt;
  return Trial{spec, run_ended_while_it_ran()};
}

}  // namespace

bool has_lapsed(const Failure& failure, bool repeated, const exec::Deadlines& deadlines) {
  const FailureFacts& facts = failure.facts;
  if (facts.not_tried) return true;
  if (facts.limit_seconds > 0)
    return facts.limit_seconds < (failure.stage == Stage::build ? deadlines.build : deadlines.run).count();
  return !repeated && facts.machine_suspected;
}

Failure run_ended_while_it_ran() {
  return {Stage::measure,
          Cause::crashed,
          "the run ended while this spec ran\nThat happened in two runs, so the spec is taken for the cause.",
          {}};
}

void note_other_device(std::span<const Trial> trials, const std::string& id, results::Notices& notes) {
  const auto others = std::ranges::count_if(trials, [&](const Trial& trial) { return is_of_another(trial, id); });
  if (id.empty() || others == 0) return;
  notes.add(fmt::format(
      "{} of the times are from the journal and were measured on another card than this run's, {}; cards of one model "
      "differ by a few per cent: another --output measures all on this one",
      others, id));
}

void note_recorded(const results::TuningOutcome& outcome, const recording::Journal& journal,
                   const exec::RequestFactory& requests, std::string_view advice, results::Notices& notes) {
  std::set<std::string> dates;
  std::int64_t count = 0;
  for (const Trial& trial : outcome.trials) {
    if (!trial.recorded) continue;
    ++count;
    const auto* recorded = journal.find(requests.trial_id(trial.spec));
    dates.insert(recorded != nullptr ? recorded->date : "");
  }
  const results::HeldFinals* held = outcome.finals.held();
  const bool finals = held != nullptr && held->date;
  if (finals) dates.insert(*held->date);
  if (dates.empty()) return;
  const std::string specs = fmt::format("{} of {}", count, plural(outcome.trials.size(), "spec"));
  const std::string what = count == 0 ? "the finals" : finals ? specs + " and the finals" : specs;
  notes.add(fmt::format("{} {} from the journal, measured {}{}", what, count == 1 && !finals ? "is" : "are",
                        text_of_dates(dates), advice));
}

std::optional<Trial> recall(const Spec& spec, recording::Journal& journal, const exec::RequestFactory& requests,
                            const Objective& objective, const LookupRules& rules) {
  if (auto trial = recall_outcome(spec, journal, requests, objective, rules)) return trial;
  auto trial = recall_crashes(spec, journal, requests, rules);
  if (trial) journal.append(wire::TrialRecord{requests.trial_id(spec), *trial});
  return trial;
}

}  // namespace tune::tuning
