#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/statistics/entrant.h"
#include "model/statistics/sequential.h"
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
/// The default, if it took part.
std::optional<Spec> default_of(const Finals& finals);
/// What was measured of a spec: what the finals say of it replaces what the sweep said. Precondition: it was measured.
Measurement decided(const Trial& trial, const std::optional<Finals>& finals);
/// Whether the rounds of the finalist can be compared with those of others.
bool finished(const Finalist& finalist);
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
/// The ratios of the times of both in the rounds that both have, in order.
std::vector<double> paired_ratios(const Finalist& finalist, const Finalist& other);
/// How many times as much a cost is; as much as 1e9 if one is 0, or if only one is negative (more is better).
double ratio_of_costs(double cost, double other);
/// The ratios of their costs if both have any, else those of their times.
std::vector<double> compared_ratios(const Finalist& finalist, const Finalist& other);

/// Tells specs apart by the ratios of their times in common rounds. A spec far behind another is recognised after a few
/// rounds: all ratios are above 1.01, and Student's t of their logarithms is one that equal specs would show in one
/// look of 50,000 (19.6 after five rounds, 9.1 after eight); noise with outliers only widens the spread.
/// SequentialIntervals decide the other cases. Over all looks and all pairs of specs, the probability that two specs of
/// equal speed are told apart, or that the fastest is said to have lost, is at most 5 %.
///
/// Specs that have costs are compared by these instead ("slower" is then "worse"), without kEquivalence and clean
/// times. Where no spec's cost ever changed in kFewest rounds or more, as the size of a file, ratios are known exactly.
class Judge {
 public:
  static constexpr int kFewest = 5;  ///< rounds before anything is decided

  /// `specs` is the number of specs at the start.
  explicit Judge(std::size_t specs);
  /// Looks at whether the costs of these, which are all that compete, ever changed from one round to another.
  void see(std::span<const Finalist* const> specs);
  /// Whether they never did, as far as see() knows.
  bool never_changed() const { return never_changed_.value_or(false); }
  /// Without so many rounds it cannot say by how much one may be slower than another.
  int fewest_rounds() const { return intervals_.fewest(); }

  /// The one with the lowest median of those not eliminated. Precondition: all have finished; there is at least one.
  static const Finalist& leader_of(std::span<const Finalist* const> specs);
  /// Whether even its clean times are slower than the other by more than kEquivalence, or its costs higher, beyond
  /// doubt.
  bool has_lost(const Finalist& spec, const Finalist& other) const;
  /// Whether both are equally fast to kEquivalence, beyond doubt.
  bool ties(const Finalist& spec, const Finalist& other) const;
  /// By how much `spec` may be slower than the rival's clean times, as a share of these: 0 if the rival is not faster,
  /// or was eliminated by a faster one. nullopt if there are too few rounds to say.
  std::optional<double> loss(const Finalist& spec, const Finalist& rival) const;
  /// By how much it may be slower than the fastest of them.
  std::optional<double> loss(const Finalist& spec, std::span<const Finalist* const> rivals) const;
  /// Where the median of the ratios of the times lies; nullopt if there are too few rounds to say.
  std::optional<Interval> ratio_interval(const Finalist& spec, const Finalist& other) const;
  /// The same of costs if both have any, and exact if neither those of the two nor any that was seen ever changed. Of
  /// two builds of the same spec, where it lies by their times and by the clean times of both. Else the low end is that
  /// of the spec's clean times, and the high end that of the other's.
  std::optional<Interval> compared_ratio(const Finalist& spec, const Finalist& other) const;

 private:
  bool is_behind(const Finalist& spec, const Finalist& other) const;
  std::optional<Interval> deciding_interval(const Finalist& spec, const Finalist& other) const;

  SequentialIntervals intervals_;
  std::optional<bool> never_changed_;  ///< what see() has found; unset: it was not called
};

/// Judges two contenders alone, and knows whether the costs of any of these specs ever changed.
Judge judge_of_two(std::span<const Finalist* const> specs);

/// Who wins finals, and by what share of its time another may be faster; nullopt if there are too few rounds to say.
struct Choice {
  const Finalist* winner = nullptr;
  std::optional<double> loss;

  bool decided(double accuracy) const { return loss && *loss <= accuracy; }
};

/// Of the specs that lose at most `accuracy` the default wins, else the one with the lowest mesh_idx: so another run
/// chooses the same where the difference is noise. One whose cost is higher than another's beyond doubt does not win,
/// however little that is. If there is none, it is one beside which no other took less, if noise leaves one, with its
/// loss. Precondition: all have finished; there is at least one.
Choice choose_winner(const Judge& judge, std::span<const Finalist* const> specs, double accuracy);

/// Finals, whoever times them: the specs that compete, which have lost, and when it is decided. It knows no clock and
/// no process. The specs must outlive it; those that have failed do not compete.
class Tournament {
 public:
  Tournament(std::vector<Finalist*> specs, double accuracy);

  /// Eliminates the specs that have lost to the leader, and returns them; one that is slower by at most the accuracy
  /// may still win. To be called after each round. Where the time is too short for Judge::kFewest rounds, `slow` are
  /// the specs that took more than twice as long as the best before the finals: they have lost if they do in each
  /// round.
  std::vector<Finalist*> end_round(int round, const std::set<const Finalist*>& slow = {});
  /// The winner if the rounds ended now; without one if none has finished.
  Choice choice() const;
  bool decided() const { return choice().decided(accuracy_); }
  const Judge& judge() const { return judge_; }

 private:
  std::vector<const Finalist*> competing() const;

  std::vector<Finalist*> specs_;
  double accuracy_;
  Judge judge_;
};

}  // namespace tune
