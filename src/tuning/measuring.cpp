#include "tuning/measuring.h"

#include <fmt/format.h>

#include "model/statistics/ranking.h"

namespace tune::tuning {

Measuring::Measuring(JournalLookup& known, std::optional<int> most_out,
                     std::function<std::unique_ptr<exec::Executor>()> make)
    : known_(&known),
      make_(std::move(make)),
      runner_([this](const Spec& spec) { return known_->answer(spec); },
              [this]() -> exec::Runner& { return executor().runner(); }, known.order(most_out)) {}

exec::Executor& Measuring::executor() {
  if (!executor_) executor_ = make_();
  return *executor_;
}

// What took more than twice as long as a best that is not to be trusted may be good.
void remeasure_distrusted(Tuner& tuner, Measuring& measuring, results::Notices& notes) {
  const std::string distrust = measuring.started() != nullptr ? measuring.started()->distrust() : "";
  if (distrust.empty()) return;
  measuring.known().set_repeating(true);
  const std::int64_t count = tuner.repeat([](const Trial& trial) {
    const Measurement* measurement = trial.measurement();
    return measurement != nullptr && (measurement->shared || measurement->timing.stopped_early);
  });
  measuring.known().set_repeating(false);
  notes.add(
      fmt::format("{}; from then on every spec had a process of its own, and the specs before were measured again: {}",
                  distrust, count));
}

// Another spec may be the best then.
void confirm_best(Tuner& tuner, Measuring& measuring, const Objective& objective) {
  for (std::vector<Trial>& trials = tuner.trials();;) {
    std::vector<Merit> merits;
    for (const Trial& trial : trials)
      merits.push_back(trial.measurement() ? objective.merit(trial.spec, *trial.measurement()) : Merit{});
    const Ranking ranking = rank(trials, merits, nullptr);
    if (ranking.rows.empty() || !ranking.rows.front().trial->measurement()->shared) return;
    measuring.known().set_repeating(true);
    measuring.executor().stop_sharing();
    trials[static_cast<std::size_t>(ranking.rows.front().trial - trials.data())] =
        tuner.try_one(ranking.rows.front().trial->spec);
    measuring.known().set_repeating(false);
  }
}

}  // namespace tune::tuning
