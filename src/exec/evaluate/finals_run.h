#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "model/statistics/finals.h"
#include "wire/finals.h"

namespace tune::exec {

// The interface of finals, whether they are held on this machine or on another: contenders, rules and results.
using Contender = wire::Contender;

/// The number of rounds if the objective is not the time: they eliminate nobody.
inline constexpr int kRoundsNotByTime = 15;

/// Whether the winner is slower than a baseline by more than is allowed.
struct Question {
  std::string baseline;  ///< its label
  double threshold = 0;  ///< a share of its time
};

/// How finals are held, and when they end.
struct FinalsRules {
  using Clock = std::chrono::steady_clock;

  std::uint64_t seed = 0;
  int launches = 3;               ///< per contender and round, or samples in `sustained`; a program is run once
  double least_turn = 0;          ///< seconds that a contender's turn takes at least
  Clock::time_point end;          ///< after this time every round but the first is aborted
  Clock::time_point last_end;     ///< the same for the first kSureRounds, and while the question is open
  bool end_is_asked_for = false;  ///< the user set it; if not, failures and the steps after the rounds get extra time
  bool by_time = true;            ///< contenders that are slower are eliminated
  double accuracy = kAccuracy;    ///< rounds go on while the winner may be slower than another spec by more than this
  std::optional<double> width;    ///< rounds go on while half the interval of the winner's time is more of it than this
  std::optional<Question> question;
  bool together = false;  ///< on a GPU, specs share a process to the end, however few they are
  /// At the end the winner, the default and the baselines are timed once more in this power state, and the other specs
  /// that are left while `end` has not come.
  std::optional<PowerState> other_state;
  /// Called with a contender right before its process is started and right before each of its turns; may be empty.
  std::function<void(const Contender&)> note_turn = {};
  /// Called when the finals begin to wait for other runs: none of the contenders runs until the next turn.
  std::function<void()> note_waiting = {};
};

/// The number of rounds after which any two of 24 specs can be told apart.
inline constexpr int kSureRounds = 16;

/// How many rounds are held at most.
int most_rounds(const FinalsRules& rules);

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
