#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/statistics/sequential.h"
#include "model/trial.h"

namespace tune {

/// Ratios this near to 1 are no difference.
inline constexpr double kEquivalence = 0.003;

/// What the finals saw of one contender: a spec of the space or a baseline.
struct Finalist {
  std::string label;                           ///< empty for a spec; "vendor", "baseline", a best.yaml's name
  Spec spec;                                   ///< no params for the vendor
  std::map<int, double> rounds = {};           ///< seconds by the round's number; not everybody is timed in each
  std::int64_t launches = 0;                   ///< timed launches of all rounds together
  std::optional<Failure> failure = {};         ///< it failed, and a spec also in a second process
  std::map<std::string, double> metrics = {};  ///< of the round nearest to the median
  std::vector<std::string> remarks = {};       ///< a sentence each: what a user should know though it did not fail
  bool is_default = false;                     ///< today's configuration
  int eliminated_after = 0;                    ///< the round after which it left, because it had lost; 0: it did not
  std::optional<double> other_state_seconds = {};  ///< the median in the power state that was not asked for
};

struct Finals {
  std::vector<Finalist> finalists;
  std::optional<double> others_running = {};  ///< threads of other programs that ran meanwhile, on average
  int cores = 0;                              ///< of the machine
};

/// Whether its rounds can be compared with others'.
bool finished(const Finalist& finalist);
/// Precondition: finished.
double median_seconds(const Finalist& finalist);
/// Half the 95 % interval of its median, over the median. Precondition: finished.
double relative_width(const Finalist& finalist);
/// The rounds that both have, in order: how many times as long the first took.
std::vector<double> paired_ratios(const Finalist& finalist, const Finalist& other);

/// What the rounds say of a spec beside the leader. `slower`: certainly, but maybe by less than kEquivalence; `lost`:
/// by more.
enum class Verdict { open, equivalent, slower, lost };

/// Decides finals. A spec far behind the leader is told by a few rounds: all ratios are beyond 1.01, and further from 1
/// than four times what lies between them. Were the two as fast as each other, that would be a value of Student's t
/// beyond 20 with four degrees of freedom, one case in 50,000; noise with outliers widens the spread and says nothing.
/// The others are told by SequentialIntervals. Over all looks and all pairs of specs, the chance that two of the same
/// speed are told apart, or that the fastest is said to have lost, is at most 5 %.
class Judge {
 public:
  static constexpr int kFewest = 5;  ///< rounds before the first verdict

  /// `specs`: how many began.
  explicit Judge(std::size_t specs);

  /// The leader: who has the lowest median of those that have not left. Precondition: all finished; not empty.
  static const Finalist& leader_of(std::span<const Finalist* const> specs);
  Verdict verdict(const Finalist& spec, const Finalist& leader) const;
  /// Where the median of the ratios lies; nullopt if there are too few rounds to say.
  std::optional<Interval> ratio_interval(const Finalist& spec, const Finalist& leader) const;

 private:
  SequentialIntervals intervals_;
};

}  // namespace tune
