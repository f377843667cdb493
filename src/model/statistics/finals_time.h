#pragma once
#include <algorithm>
#include <optional>

namespace tune {

/// The seconds that the first kFirstRounds, and the question of --baseline, may take although finals have no time left.
inline constexpr double kFirstRoundsSeconds = 30;
/// Of the time budget of a run, finals get this share at most, unless the sweep leaves more.
inline constexpr double kFinalsShare = 0.25;

/// How long the finals of a run may take.
struct FinalsTime {
  double seconds = 0;     ///< at most; 0: there are none
  bool as_sweep = false;  ///< or as long as the sweep measured, if that is more

  /// `budget`: --finals-budget.
  static FinalsTime of(const std::optional<double>& budget) { return {budget.value_or(1), !budget}; }
  /// The most seconds after a sweep that measured for so long.
  double after(double sweep_seconds) const { return as_sweep ? std::max(seconds, sweep_seconds) : seconds; }
};

/// The seconds of a time budget that the sweep leaves to the finals.
inline double reserved_for_finals(double time_budget, const std::optional<double>& budget) {
  return std::min(kFinalsShare * time_budget, budget.value_or(kFirstRoundsSeconds));
}

}  // namespace tune
