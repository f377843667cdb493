#pragma once
#include <functional>
#include <optional>
#include <span>

#include "commands/simulate/replay.h"
#include "commands/tune/options.h"
#include "model/statistics/objective.h"

namespace tune::commands {

/// What an audit changes in a simulated tuning.
struct SimulationHooks {
  /// What the tuning is told of a spec instead of what was recorded; unset: that itself.
  Replay::Change answer;
  /// The winner among what the tuning was told, nullptr if there is none; unset: the one that `--simulate` prints.
  std::function<const Trial*(std::span<const Trial>, const Plan&, const Objective&)> choose;
};

/// The winner of a simulated tuning, and the truth that the recording knows of it.
struct SimulatedWinner {
  Trial trial;          ///< as the tuning was told it
  double relative = 1;  ///< its recorded objective to the best recorded one: 1 at the best, else more
};

/// Tunes on a recorded run, and prints and writes nothing. nullopt: no spec has a valid result. Throws
/// as simulate(), and Error(bad_input) for an objective that is 0 or negative.
std::optional<SimulatedWinner> simulated_winner(const TuneOptions& options, const std::filesystem::path& recording,
                                                const SimulationHooks& hooks);

}  // namespace tune::commands
