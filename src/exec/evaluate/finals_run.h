#pragma once
#include <chrono>
#include <functional>

#include "model/statistics/finals.h"
#include "wire/finals.h"

namespace tune::exec {

/// How finals are held, when they end by this machine's clock, and who is told of their turns.
struct FinalsRules : wire::RoundRules {
  using Clock = std::chrono::steady_clock;

  double least_turn = 0;                    ///< seconds that a contender's turn takes at least
  Clock::time_point end{};                  ///< after this time every round but the first is aborted
  Clock::time_point end_of_first_rounds{};  ///< the same for the first kFirstRounds, and while the question is open
  /// Called with a contender right before its process is started and right before each of its turns; may be empty.
  std::function<void(const wire::Contender&)> note_turn = {};
  /// Called when the finals begin to wait for other runs: none of the contenders runs until the next turn.
  std::function<void()> note_waiting = {};
};

/// Finals that can be held once, on this machine or on another.
class FinalsRun {
 public:
  /// Called between events with the round that runs (0: they load) and how many contenders are left.
  using Tick = std::function<void(int round, std::size_t left)>;

  virtual ~FinalsRun() = default;
  /// Throws what Runner::wait throws, and DeviceLost.
  virtual Finals run(const Tick& tick) = 0;
  /// The rounds that were held as a whole until now, also if run() threw.
  virtual Finals so_far() const = 0;
};

}  // namespace tune::exec
