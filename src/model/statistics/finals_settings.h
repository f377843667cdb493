#pragma once
#include <algorithm>
#include <optional>

namespace tune {

/// The seconds that the first kFirstRounds, and the question of --baseline, may take although finals have no time left.
inline constexpr double kFirstRoundsSeconds = 30;
/// Of the time budget of a run, finals get this share at most, unless the sweep leaves more.
inline constexpr double kFinalsShare = 0.25;

/// What a user says of the finals.
struct FinalsSettings {
  bool hold = true;              ///< --no-finals: false
  int finalists = 5;             ///< at least
  std::optional<double> budget;  ///< seconds

  /// The most seconds that finals without a deadline take after a sweep that measured for so long.
  double seconds_after(double sweep_seconds) const { return budget.value_or(std::max(1.0, sweep_seconds)); }
  /// The seconds of a time budget that the sweep leaves to them.
  double reserved_of(double time_budget) const {
    return hold ? std::min(kFinalsShare * time_budget, budget.value_or(kFirstRoundsSeconds)) : 0;
  }
};

}  // namespace tune
