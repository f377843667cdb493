#include "tuning/measuring.h"

#include <fmt/format.h>

#include "model/statistics/ranking.h"

namespace tune::tuning {

namespace {

/// The order in which a search was told what the journal knows; none if it did not wait for trials.
exec::RecordedOrder recorded_order(const recording::Journal& journal, const exec::RequestFactory& requests,
                                   std::optional<int> most_out) {
  if (!most_out) return {};
  return {*most_out, [&](const Spec& spec) {
            const auto* recorded = journal.find(requests.trial_id(spec));
            return recorded != nullptr ? recorded->place : 0;
          }};
}

}  // namespace

Measuring::Measuring(recording::Journal& journal, const exec::RequestFactory& requests, const Objective& objective,
                     const LookupRules& rules, std::optional<int> most_out,
                     std::function<std::unique_ptr<exec::Executor>()> make)
    : make_(std::move(make)),
      runner_(
          [&, rules, this](const Spec& spec) {
            return repeating_ ? std::nullopt : recall(spec, journal, requests, objective, rules);
          },
          [this]() -> exec::Runner& { return executor().runner(); }, recorded_order(journal, requests, most_out)) {}

exec::Executor& Measuring::executor() {
  if (!executor_) executor_ = make_();
  return *executor_;
}

// Specs that were stopped early are measured again too: the limit came from a time that is not trusted.
void remeasure_distrusted(Tuner& tuner, Measuring& measuring, results::Notices& notes) {
  const std::string distrust = measuring.started() != nullptr ? measuring.started()->distrust() : "";
  if (distrust.empty()) return;
  measuring.set_repeating(true);
  const std::int64_t count = tuner.repeat([](const Trial& trial) {
    const Measurement* measurement = trial.measurement();
    return measurement != nullptr && (measurement->shared || measurement->timing.stopped_early);
  });
  measuring.set_repeating(false);
  notes.add(
      fmt::format("{}; from then on every spec had a process of its own, and the specs before were measured again: {}",
                  distrust, count));
}

// Another spec may be the best then.
void confirm_best(Tuner& tuner, Measuring& measuring, const Objective& objective) {
  for (std::vector<Trial>& trials = tuner.trials();;) {
    const Ranking ranking = rank(trials, merits_of(trials, objective), nullptr);
    if (ranking.rows.empty() || !ranking.rows.front().trial->measurement()->shared) return;
    measuring.set_repeating(true);
    measuring.executor().stop_sharing();
    tuner.repeat(trials[static_cast<std::size_t>(ranking.rows.front().trial - trials.data())]);
    measuring.set_repeating(false);
  }
}

}  // namespace tune::tuning
