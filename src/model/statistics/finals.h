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

/// Ratios of times that differ from 1 by no more than this count as equal.
inline constexpr double kEquivalence = 0.003;

/// The results of one contender in the finals: a spec of the space or a baseline.
struct Finalist {
  std::string label;                               ///< empty for a spec; "vendor", "baseline", a best.yaml's name
  Spec spec;                                       ///< no params for the vendor
  std::map<int, double> rounds = {};               ///< seconds by the round's number; it is not timed in every round
  std::int64_t launches = 0;                       ///< timed launches of all rounds together
  std::optional<Failure> failure = {};             ///< it failed, and a spec also in a second process
  std::map<std::string, double> metrics = {};      ///< of the round nearest to the median
  std::vector<std::string> remarks = {};           ///< sentences that the user should read though it did not fail
  bool is_default = false;                         ///< today's configuration
  int eliminated_after = 0;                        ///< the round after which it was eliminated; 0: it was not
  std::optional<double> other_state_seconds = {};  ///< the median in the power state that was not asked for
};

struct Finals {
  std::vector<Finalist> finalists;
  std::optional<double> others_running = {};  ///< threads of other programs that ran meanwhile, on average
  int cores = 0;                              ///< of the machine
};

/// Whether a finalist's label is that of the vendor's library: of the algorithm that it takes first, or of its best
/// one.
bool is_vendor(const std::string& label);

/// Whether the rounds of the finalist can be compared with those of others.
bool finished(const Finalist& finalist);
/// Precondition: finished.
double median_seconds(const Finalist& finalist);
/// Half the 95 % interval of its median, over the median. Precondition: finished.
double relative_width(const Finalist& finalist);
/// The ratios of the times of both in the rounds that both have, in order.
std::vector<double> paired_ratios(const Finalist& finalist, const Finalist& other);

/// The verdict on a spec compared with the leader. `slower` means certainly slower, but perhaps by less than
/// kEquivalence; `lost` means slower by more.
enum class Verdict { open, equivalent, slower, lost };

/// Decides the finals. A spec far behind the leader is recognised after a few rounds: all ratios are above 1.01, and
/// their distance from 1 is more than four times their spread. If the two were equally fast, this would be a value of
/// Student's t beyond 20 with four degrees of freedom, one case in 50,000; noise with outliers only widens the spread.
/// SequentialIntervals decide the other cases. Over all looks and all pairs of specs, the probability that two specs of
/// equal speed are told apart, or that the fastest is said to have lost, is at most 5 %.
class Judge {
 public:
  static constexpr int kFewest = 5;  ///< rounds before the first verdict

  /// `specs` is the number of specs at the start.
  explicit Judge(std::size_t specs);

  /// The one with the lowest median of those not eliminated. Precondition: all have finished; there is at least one.
  static const Finalist& leader_of(std::span<const Finalist* const> specs);
  Verdict verdict(const Finalist& spec, const Finalist& leader) const;
  /// Where the median of the ratios lies; nullopt if there are too few rounds to say.
  std::optional<Interval> ratio_interval(const Finalist& spec, const Finalist& leader) const;

 private:
  SequentialIntervals intervals_;
};

}  // namespace tune
