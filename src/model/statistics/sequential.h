#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/statistics/stats.h"

namespace tune {

/// Confidence intervals of a median that remain valid when they are looked at repeatedly while values arrive (repeated
/// confidence intervals: Jennison and Turnbull, Group Sequential Methods, chapter 9). They are order statistics, like
/// those of the sign test, and assume only that the values are independent and have that median.
///
/// The error probability is spent over the looks by the function level * log(1 + (e - 1) t), where t is the share of
/// the values that have arrived (Lan and DeMets, Biometrika 70, 1983; it resembles Pocock's boundary). Large
/// differences are thus recognised early, and the last looks lose little. The ranks are exact: they follow from the
/// distribution of the random walk of the signs, given that no earlier look has ended it.
class SequentialIntervals {
 public:
  /// `level` is the probability that the low end is above the median at any look; it is the same for the high end.
  explicit SequentialIntervals(double level);

  /// How many values there are at each look, ascending.
  static std::span<const int> looks();
  /// How many there are at the first look that can tell anything. The last one always can.
  int fewest() const;

  /// The interval at the last look that these values reach, in the order in which they came; nullopt before the first
  /// look that can tell anything.
  std::optional<Interval> of(std::span<const double> values) const;

 private:
  std::vector<int> ranks_;  ///< of each look: the low end is the value of this rank, 1 the lowest; 0: there is none
};

}  // namespace tune
