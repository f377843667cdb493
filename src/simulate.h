#pragma once
#include <functional>
#include <optional>
#include <span>

#include "model/error.h"
#include "model/objective.h"
#include "options.h"

namespace tune {

/// Tunes on a recorded run (--simulate): specs are answered from it, in the order they are asked for, and its seconds
/// pass on a clock of its own; no worker, device or journal takes part. The space is that of the tuning file, or
/// without one what was recorded. Throws Error(bad_input) for a spec that is not in the recording; nothing is written
/// then.
ExitCode simulate(const Options& options);

/// What an audit changes in a simulated tuning.
struct SimulationHooks {
  /// What the tuning is told of a spec instead of what was recorded; unset: that itself.
  std::function<Outcome(const Spec&, const Outcome& recorded, const Objective&)> answer;
  /// The winner among what the tuning was told, nullptr if there is none; unset: the one that simulate() prints.
  std::function<const Trial*(std::span<const Trial>, const Objective&)> choose;
};

/// The winner of a simulated tuning, and the truth that the recording knows of it.
struct SimulatedWinner {
  Trial trial;          ///< as the tuning was told it
  double relative = 1;  ///< its recorded objective to the best recorded one: 1 at the best, else more
};

/// Tunes on a recorded run and prints and writes nothing. nullopt: no spec has a valid result. Throws as simulate(),
/// and Error(bad_input) for an objective that is 0 or negative.
std::optional<SimulatedWinner> simulated_winner(const Options& options, const SimulationHooks& hooks);

}  // namespace tune
