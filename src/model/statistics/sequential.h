#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/statistics/stats.h"

namespace tune {

/// Confidence intervals of a median that may be looked at again and again while values come in (repeated confidence
/// intervals: Jennison and Turnbull, Group Sequential Methods, chapter 9). They are order statistics, as those of the
/// sign test, and so assume nothing of the values but that they are independent and have that median.
///
/// The chance of an error is spent over the looks by the function level * log(1 + (e - 1) t), where t is the share of
/// the values that are there (Lan and DeMets, Biometrika 70, 1983; it resembles Pocock's boundary): what is far behind
/// is told early, and the last looks lose little by it. The ranks are exact: they follow from the distribution of the
/// signs' random walk, as far as no look before has ended it.
class SequentialIntervals {
 public:
  /// `level`: the chance that at any look the low end is above the median, and the same of the high end.
  explicit SequentialIntervals(double level);

  /// How many values there are at each look, ascending.
  static std::span<const int> looks();
  static bool is_look(int count);

  /// The interval at the last look that these values reach, in the order in which they came; nullopt before the first
  /// look that can tell anything.
  std::optional<Interval> of(std::span<const double> values) const;

 private:
  std::vector<int> ranks_;  ///< of each look: the low end is the value of this rank, 1 the lowest; 0: there is none
};

}  // namespace tune
