#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "model/statistics/finals.h"
#include "model/statistics/sequential.h"

/// The rules of the finals: who is slower than whom, who is eliminated, and who wins.
namespace tune {

/// By what two are compared. `objective`: their costs if both have any, else their times; `clean`: the same, but of the
/// first the clean times, if other programs disturbed it.
enum class Basis { times, objective, clean };

/// How many times as much the first takes as the other, in each round that both have, in order.
std::vector<double> ratios(const Finalist& finalist, const Finalist& other, Basis basis);

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
  /// Where the median of these ratios lies, exactly for costs that never changed; nullopt: too few rounds tell it.
  std::optional<Interval> interval(const Finalist& spec, const Finalist& other, Basis basis) const;
  /// Where it lies whatever other programs did. Costs are exact if neither those of the two nor any that was seen ever
  /// changed. Of two builds of the same spec, it has room for their times and for the clean times of both. Else the low
  /// end is that of the spec's clean times, and the high end that of the other's.
  std::optional<Interval> safe_interval(const Finalist& spec, const Finalist& other) const;

 private:
  bool is_behind(const Finalist& spec, const Finalist& other) const;

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
/// loss. Ties in a ranking follow another rule, Judge::ties(). Precondition: all have finished; there is at least one.
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
  std::vector<Finalist*> eliminate_losers(int round, const std::set<const Finalist*>& slow = {});
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
