#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/stats.h"
#include "model/trial.h"

namespace tune {

/// What the finals saw of one contender: a spec of the space or a baseline.
struct Finalist {
  std::string label;           ///< empty for a spec; "vendor", "baseline", a best.yaml's name
  Spec spec;                   ///< no params for the vendor
  std::vector<double> rounds;  ///< seconds, one figure per round, all contenders' rounds aligned
  std::int64_t launches = 0;   ///< timed launches of all rounds together
  std::optional<Failure> failure;
  std::map<std::string, double> metrics = {};  ///< of the round nearest to the median
  std::vector<std::string> remarks = {};       ///< a sentence each: what a user should know though it did not fail
};

struct Finals {
  std::vector<Finalist> finalists;
};

/// A contender against the winner, round by round: ratio > 1 means slower than the winner.
struct Standing {
  double median_seconds = 0;
  Interval seconds_interval;  ///< of the median, over the rounds
  std::int64_t launches = 0;
  std::map<std::string, double> metrics;
  double ratio = 1;  ///< median of the rounds' ratios
  Interval ratio_interval;
  bool tie = false;  ///< one of those that the rounds cannot tell from the fastest, if they are several
};

/// A row of the table.
struct Ranked {
  const Trial* trial = nullptr;
  double objective = 0;              ///< in the objective's own unit
  std::optional<Standing> standing;  ///< if it was a finalist
  bool on_front = false;             ///< of several objectives: nothing beats it in one without losing in another
};

struct RankedBaseline {
  std::string label;
  Spec spec;
  std::optional<Standing> standing;  ///< unset: it failed, see notes
};

/// Trials in order of merit. A NaN, a failure or an unclean end is never placed.
struct Ranking {
  std::vector<Ranked> rows;  ///< best first; finalists before the rest, early-stopped ones last
  std::vector<RankedBaseline> baselines;
};

/// How good a measurement is by the run's objective, in the objective's unit, and whether more is better.
/// Computed by the caller, because it may need expressions.
struct Merit {
  double value = 0;
  bool maximize = false;
  bool by_time = true;  ///< follows from the time alone (time, gflops): then the finals' rounds decide
};

/// Ranks measured trials: `merits[i]` belongs to `trials[i]` and is ignored for failed ones. Without finals by merit
/// (ties: lower mesh_idx), early-stopped ones after complete ones. With finals the finalists stand first, and those
/// that failed there are not placed. The leader has the lowest median over the rounds; the winner is the lowest
/// mesh_idx among the leader and the specs whose interval of paired ratios to it holds 1; the others follow by their
/// ratio to the winner. If the merit is not of the time, finalists stand by merit and no tie is declared.
/// Precondition: both spans have the same size; the rounds of all finalists without a failure are as many.
Ranking rank(std::span<const Trial> trials, std::span<const Merit> merits, const Finals* finals);

/// Which points are on the Pareto front: no other point is at least as good in every objective and better in one.
/// `costs[i]` holds a point's costs, lower is better, as many for each point; a NaN keeps a point off.
std::vector<bool> pareto_front(std::span<const std::vector<double>> costs);

/// The specs that go to the finals: the best `top` complete ones and all within `margin` (0.02) of the best, at most
/// `limit`.
std::vector<const Trial*> choose_finalists(std::span<const Trial> trials, std::span<const Merit> merits, int top,
                                           double margin, int limit);

}  // namespace tune
