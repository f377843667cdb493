#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/statistics/entrant.h"
#include "model/trial.h"

namespace tune {

/// A time counts as disturbed if it is longer by this factor than what it can have been without other programs.
inline constexpr double kDisturbed = 1.05;
/// If other programs have had so many cores, on average, they may have disturbed times: one core in a third of the
/// launches.
inline constexpr double kBusy = 0.33;
/// Ratios of times that differ from 1 by no more than this count as equal.
inline constexpr double kEquivalence = 0.003;
/// Unless another accuracy is asked for, a winner may be slower than the best of the finals by this share of its time.
inline constexpr double kAccuracy = 0.01;
/// Rounds that finals hold although their budget is spent: so many tell any two of 24 specs apart even if a few rounds
/// are disturbed. (The fewest that do, 16 rounds, must all be undisturbed.)
inline constexpr int kFirstRounds = 39;

/// One round of the finals, for one that took part.
struct FinalsRound {
  double seconds = 0;
  std::optional<double> clean_seconds = {};  ///< wire::Measured::clean_seconds, if the round took longer
  std::optional<double> cost = {};           ///< Merit::cost; unset if it follows from the time
  bool operator==(const FinalsRound&) const = default;
};

/// The results of one contender in the finals: a spec of the space or a baseline.
struct Finalist {
  Entrant entrant;
  std::map<int, FinalsRound> rounds = {};          ///< by number; it is not timed in every round
  std::int64_t launches = 0;                       ///< timed launches of all rounds together
  std::optional<Failure> failure = {};             ///< it failed, and a spec also in a second process
  std::map<std::string, double> metrics = {};      ///< of the round nearest to the median
  std::vector<std::string> remarks = {};           ///< sentences that the user should read though it did not fail
  int eliminated_after = 0;                        ///< the round after which it was eliminated; 0: it was not
  std::optional<double> other_state_seconds = {};  ///< the median in the power state that was not asked for
};

struct Finals {
  std::vector<Finalist> finalists;
  std::optional<double> others_running = {};  ///< cores that other programs had meanwhile, on average
  double stolen_cores = 0;                    ///< that the host of this virtual machine took meanwhile, on average
  int cores = 0;                              ///< of the machine
  double accuracy = kAccuracy;                ///< with which they were to decide
  std::string objective = {};                 ///< Objective::definition of the costs; empty: there are none
  int decided_after = 0;  ///< the round after which the winner alone was timed, to compare it with a baseline; 0: none
  double seconds = 0;     ///< that they took; 0: not known, or they have not ended
  std::optional<double> room = {};  ///< seconds until the end of the run's time budget when they began
};

/// The spec of this mesh_idx; null: it took no part, or there were none.
const Finalist* find_spec(const Finals& finals, std::int64_t mesh_idx);
/// Why the result of this spec is wrong, if the finals found that; else null.
const Failure* wrong_result_of(const Finals* finals, std::int64_t mesh_idx);
/// The default, if it took part.
std::optional<Spec> default_of(const Finals& finals);
/// What was measured of a spec: what the finals, if there were any, say of it replaces what the sweep said.
/// Precondition: it was measured.
Measurement measurement_after(const Trial& trial, const Finals* finals);
/// Whether the rounds of the finalist can be compared with those of others.
bool finished(const Finalist& finalist);
/// Whether specs took part, and each of them failed.
bool all_failed(const Finals& finals);
/// Lets the rounds be compared by their times.
void drop_costs(Finals& finals);
/// Whether an objective makes costs of its rounds.
bool has_costs(const Finalist& finalist);
/// The costs of the rounds that have one, in order.
std::vector<double> costs_of(const Finalist& finalist);
/// The times of the rounds, in order.
std::vector<double> seconds_of(const Finalist& finalist);
/// Precondition: finished.
double median_seconds(const Finalist& finalist);
/// Half the 95 % interval of its median, over the median. Precondition: finished.
double relative_width(const Finalist& finalist);
/// What specs are compared by: the median of its costs if it has any, else median_seconds(). Precondition: finished.
double median_cost(const Finalist& finalist);
/// How many times as much a cost is; as much as 1e9 if one is 0, or if only one is negative (more is better).
double ratio_of_costs(double cost, double other);

}  // namespace tune
