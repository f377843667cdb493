#pragma once
#include <functional>
#include <optional>

#include "model/constraints/valid_specs.h"
#include "model/statistics/objective.h"
#include "model/values/error.h"
#include "recording/recording.h"
#include "report/progress.h"

namespace tune::commands {

/// Answers specs from a recorded run. Its seconds pass on a clock of their own, and it knows the best there can be.
class Replay {
 public:
  using Time = report::Progress::Time;
  /// What is answered instead of what was recorded.
  using Change = std::function<Outcome(const Spec&, const Outcome& recorded, const Objective&)>;

  /// `recording`, `plan` and `objective` must outlive this. `change` may be empty.
  Replay(const recording::Recording& recording, const Plan& plan, const Objective& objective, Change change = {});

  /// Throws Error(bad_input) for a spec that is not in the recording.
  Trial answer(const Spec& spec);
  /// The error of such a spec.
  Error unknown(const Spec& spec) const;
  /// The recording's seconds so far.
  Time now() const { return clock_; }

  /// What was recorded of a spec; nullopt if that has no value of the objective. Precondition: it is in the recording.
  std::optional<Merit> merit(const Spec& spec) const;
  /// The mesh_idx that the recorded run gave the spec. The spec's own is that of the plan's grid, which differs if the
  /// recording alone makes the grid: it tells neither the order of the parameters nor values that no valid spec had.
  /// nullopt if the recording does not tell, or gives several specs the same. Precondition: it is in the recording.
  std::optional<std::int64_t> recorded_idx(const Spec& spec) const;
  /// The best recorded one of `specs`.
  std::optional<Merit> best(const ValidSpecs& specs) const;
  /// A merit within this share (0.01) of the best.
  std::optional<double> near_best(const ValidSpecs& specs, double share) const;

 private:
  const recording::Recording* recording_;
  const Plan* plan_;
  const Objective* objective_;
  Change change_;
  recording::RecordedTrials trials_;
  bool is_numbered_;
  Time clock_{};
};

}  // namespace tune::commands
