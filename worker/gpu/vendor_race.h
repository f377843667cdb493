#pragma once
#include <functional>
#include <optional>

namespace tune::worker {

/// What a race between the vendor library's algorithms knows of the world.
struct Race {
  /// Seconds of one launch of an algorithm; its first launch may hold the loading of code. nullopt: it fails.
  std::function<std::optional<double>(int algorithm, bool first)> launch;
  std::function<double()> now;  ///< a clock in seconds
  double seconds = 5;           ///< no algorithm is tried for the first time after this long
};

/// Which of `count` algorithms is the fastest: all are launched in turns, so that the device's state is the same for
/// all, and leave when their median falls behind. The first, which is what a plain call gets, wins unless another is
/// faster by more than 0.3 % in the median and in four of five rounds. nullopt: all fail.
std::optional<int> fastest_of(int count, const Race& race);

}  // namespace tune::worker
