#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "model/device.h"
#include "model/statistics/entrant.h"
#include "model/statistics/finals.h"
#include "wire/messages.h"

namespace tune::wire {

/// A participant of the finals: a spec whose artifact is in the store, the vendor's library, or what an earlier result
/// was measured with.
struct Contender {
  /// An artifact of an earlier run and how it was launched: neither follows from the present source.
  struct Stored {
    std::string key, hash;  ///< of the entry in the store, and of the artifact that it had then
    MeasureRequest request;
  };

  Entrant entrant;
  std::optional<Failure> failure = {};  ///< why it must not be started
  std::optional<Stored> stored = {};
  std::string code = {};  ///< Identity::of_measuring; empty: not known
  bool was_slow = false;  ///< it took more than twice as long as the best in the sweep, and not because of others
};

/// Whether the winner is slower than a baseline by more than is allowed.
struct Question {
  std::string baseline;  ///< its label
  double threshold = 0;  ///< a share of its time
  bool operator==(const Question&) const = default;
};

/// How the rounds of finals are held, on whichever machine.
struct RoundRules {
  std::uint64_t seed = 0;
  int launches = 3;             ///< per contender and round, or samples in `sustained`; a program is run once
  bool end_is_firm = false;     ///< the user set it; if not, failures and the steps after the rounds get extra time
  bool by_time = true;          ///< specs are compared by their times alone; else by the plan's objective
  double accuracy = kAccuracy;  ///< rounds go on while the winner may be slower than another spec by more than this
  std::optional<double> width;  ///< rounds go on while half the interval of the winner's time is more of it than this
  std::optional<Question> question;
  bool one_of_several = false;  ///< tunings: on a GPU, specs share a process to the end, however few they are
  /// At the end the winner, the default and the baselines are timed once more in this power state, and the other specs
  /// that are left while the finals' time lasts.
  std::optional<PowerState> other_state;
  bool operator==(const RoundRules&) const = default;
};

}  // namespace tune::wire
