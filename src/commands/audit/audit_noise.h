#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/statistics/objective.h"
#include "model/trial.h"
#include "model/values/random.h"

namespace tune::commands {

/// A tuning on a recording as if its times were measured anew: every answer is the recorded one times a random factor,
/// and the winner is decided by finals of such times, as real ones are. The factors are log-normal and independent of
/// each other: a drift that several times share is not simulated.
class NoisyTuning {
 public:
  /// `size`: the standard deviation of a time, as a share of it; unset: each spec's confidence interval tells it.
  /// `file` is the name of the recording in messages. The same seed gives the same times.
  NoisyTuning(std::optional<double> size, int finalists, std::uint64_t seed, std::string file);

  /// What the tuning is told of a spec. Throws Error(bad_input) if the size is not known.
  Outcome answer(const Spec& spec, const Outcome& recorded, const Objective& objective);
  /// The winner of the finals among what was answered; nullptr if no spec is valid.
  const Trial* choose(std::span<const Trial> trials, const Plan& plan, const Objective& objective);

 private:
  /// A recorded measurement, and the noise of a time that as many launches give.
  struct Known {
    Measurement measurement;
    double size;
  };

  double size_of(const Timing& timing) const;
  double round_size(const Known& known) const;
  double factor(double size);
  /// A round of the finals; `finalists` become what all rounds so far say.
  void time_once(Finals& finals, std::vector<Trial>& finalists, const Objective& objective, int round);

  std::optional<double> size_;
  int finalists_;
  Random random_;
  std::string file_;
  std::map<std::int64_t, Known> known_;  ///< by mesh_idx
};

}  // namespace tune::commands
