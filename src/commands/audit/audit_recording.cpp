#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/audit/audit.h"
#include "commands/simulate/simulate.h"
#include "model/statistics/objective.h"
#include "model/statistics/ranking.h"
#include "model/statistics/tournament.h"
#include "model/trial.h"
#include "model/values/error.h"
#include "model/values/random.h"
#include "tuning/contenders.h"

namespace tune::commands {
namespace {

constexpr double kInterval = 2 * 1.959964;  // the width of a 95 % interval, in standard deviations

// Near to a normal distribution, and the same on every machine.
double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.next() >> 11) * 0x1p-53;
  return sum;
}

// Energy and rates go with the time; of other figures only the objective itself is noisy.
double figure_factor(const std::string& name, const std::string& objective, double factor) {
  if (more_is_better(name)) return 1 / factor;
  return name == objective || name == "energy" ? factor : 1;
}

Measurement scaled(Measurement measurement, double factor, const std::string& objective) {
  Timing& timing = measurement.timing;
  for (double* time : {&timing.median, &timing.min, &timing.mean, &timing.p95, &timing.ci_low, &timing.ci_high})
    *time *= factor;
  for (auto& [name, value] : measurement.metrics) value *= figure_factor(name, objective, factor);
  return measurement;
}

/// A tuning on a recording as if its times were measured anew: every answer is the recorded one times a random factor,
/// and the winner is decided by finals of such times, as real ones are. The factors are log-normal and independent of
/// each other: a drift that several times share is not simulated.
class NoisyTuning {
 public:
  /// `size`: the standard deviation of a time, as a share of it; unset: each spec's confidence interval tells it.
  /// `file` is the name of the recording in messages. The same seed gives the same times.
  NoisyTuning(std::optional<double> size, int finalists, std::uint64_t seed, std::string file)
      : size_(size), finalists_(finalists), random_(seed ^ 0x6e6f697365), file_(std::move(file)) {}

  /// What the tuning is told of a spec. Throws Error(bad_input) if the size is not known.
  Outcome answer(const Spec& spec, const Outcome& recorded, const Objective& objective) {
    const auto* measurement = std::get_if<Measurement>(&recorded);
    if (measurement == nullptr) return recorded;
    const Known known{*measurement, size_of(measurement->timing)};
    known_.insert_or_assign(spec.mesh_idx, known);
    return scaled(*measurement, factor(known.size), objective.name());
  }

  /// The winner of the finals among what was answered; nullptr if no spec is valid.
  const Trial* choose(std::span<const Trial> trials, const Plan& plan, const Objective& objective) {
    const std::vector<Merit> merits = merits_of(trials, objective);
    const double margin = tuning::finals_margin(plan, objective, trials);
    const auto chosen =
        choose_finalists(trials, merits, finalists_, margin, std::max(tuning::kMostFinalists, finalists_));
    const Ranking sweep = rank(trials, merits, nullptr);
    if (chosen.size() < 2) return sweep.rows.empty() ? nullptr : sweep.rows.front().trial;
    Finals finals;
    std::vector<Trial> finalists;
    for (const Trial* trial : chosen) {
      finals.finalists.push_back({{trial->spec}});
      finalists.push_back(*trial);
    }
    std::vector<Finalist*> specs;
    for (Finalist& finalist : finals.finalists) specs.push_back(&finalist);
    Tournament tournament(std::move(specs), finals.accuracy);
    for (int round = 1; round <= SequentialIntervals::looks().back(); ++round) {
      time_once(finals, finalists, objective, round);
      tournament.eliminate_losers(round);
      if (tournament.decided()) break;
    }
    const Ranking ranking = rank(finalists, merits_of(finalists, objective), &finals);
    return chosen[static_cast<std::size_t>(ranking.rows.front().trial - finalists.data())];
  }

 private:
  /// A recorded measurement, and the noise of a time that as many launches give.
  struct Known {
    Measurement measurement;
    double size;
  };

  double size_of(const Timing& timing) const {
    if (size_) return *size_;
    if (timing.ci_low > 0) return (timing.ci_high - timing.ci_low) / kInterval / timing.median;
    throw Error(ExitCode::bad_input, file_ +
                                         ": the recording does not tell how certain its times are; give the size of "
                                         "their noise, such as --with-noise 1%");
  }

  // A round of the finals has few launches; a size that was asked for holds for every time.
  double round_size(const Known& known) const {
    if (size_) return *size_;
    const auto launches = static_cast<double>(known.measurement.timing.count);
    return known.size * std::sqrt(std::max(launches / exec::FinalsRules().launches, 1.0));
  }

  double factor(double size) { return std::exp(size * normal(random_)); }

  /// A round of the finals; `finalists` become what all rounds so far say.
  void time_once(Finals& finals, std::vector<Trial>& finalists, const Objective& objective, int round) {
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      Finalist& finalist = finals.finalists[i];
      if (finalist.eliminated_after > 0) continue;
      const Known& known = known_.at(finalist.entrant.spec.mesh_idx);
      const double recorded = known.measurement.timing.median;
      const double noise = factor(round_size(known));
      FinalsRound& now = finalist.rounds[round] = {.seconds = recorded * noise};
      const Merit merit = objective.merit(finalist.entrant.spec, scaled(known.measurement, noise, objective.name()));
      if (!merit.by_time) now.cost = merit.cost();
      finalists[i].outcome = scaled(known.measurement, median_seconds(finalist) / recorded, objective.name());
    }
  }

  std::optional<double> size_;
  int finalists_;
  Random random_;
  std::string file_;
  std::map<std::int64_t, Known> known_;  ///< by mesh_idx
};

}  // namespace

AuditedShape audit_recording(const AuditOptions& audit, const std::filesystem::path& recording,
                             const std::string& name) {
  AuditedShape audited{name, {}};
  TuneOptions options = audit.tuning;
  std::uint64_t& seed = options.job.search.seed;
  for (int number = 1; number <= audit.runs; ++number, ++seed) {
    NoisyTuning noise(audit.noise, options.finals.finalists, seed, recording.string());
    const SimulationHooks hooks = {[&](const Spec& spec, const Outcome& outcome, const Objective& objective) {
                                     return noise.answer(spec, outcome, objective);
                                   },
                                   [&](std::span<const Trial> trials, const Plan& plan, const Objective& objective) {
                                     return noise.choose(trials, plan, objective);
                                   }};
    AuditRun& run = audited.runs.emplace_back(AuditRun{number, seed, {}, 0, {}, {}, {}});
    const auto winner = simulated_winner(options, recording, hooks);
    if (!winner) continue;
    run.winner = winner->trial.spec;
    run.seconds = winner->trial.measurement()->timing.median;
    run.relative = winner->relative;
  }
  return audited;
}

}  // namespace tune::commands
