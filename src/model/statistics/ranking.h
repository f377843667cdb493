#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/statistics/finals.h"
#include "model/statistics/same_code.h"
#include "model/statistics/stats.h"
#include "model/trial.h"

namespace tune {

/// A contender compared with the winner. All ratios in what tune prints and writes follow from `ratio`.
struct FinalsResult {
  Estimate time;  ///< the median of the winner's, over all its rounds, times `ratio`; one round tells no interval
  std::int64_t launches = 0;
  std::map<std::string, double> metrics;
  double ratio = 1;  ///< the median of its times over the winner's, in the rounds that both have
  int rounds = 0;
  std::optional<double> loss = {};  ///< Judge::loss of the winner to it; baselines have none
  bool tie = false;                 ///< as fast as the winner, and not alone in that
  std::optional<double> other_state_seconds = {};
};

/// A row of the table.
struct Ranked {
  const Trial* trial = nullptr;
  double objective = 0;                       ///< in the objective's own unit
  std::optional<FinalsResult> finals_result;  ///< if it was a finalist, and came through the finals
  bool on_front = false;  ///< of several objectives: nothing beats it in one without losing in another
  const Failure* failed_in_finals = nullptr;  ///< it keeps what the sweep measured
  const Trial* same_as = nullptr;             ///< the spec with the same code, whose figures are these

  /// Whose measurement it is.
  const Trial& timed() const { return same_as != nullptr ? *same_as : *trial; }
  /// That of the finals, else the sweep's.
  Estimate time() const { return finals_result ? finals_result->time : estimate_of(timed().measurement()->timing); }
};

struct RankedBaseline {
  Entrant entrant;
  std::optional<FinalsResult> finals_result;  ///< unset: it failed, see notes
};

/// Trials in order of merit. A NaN, a failure or an unclean end in the sweep is never ranked.
struct Ranking {
  /// Best first, early-stopped ones last; see rank().
  std::vector<Ranked> rows;
  std::vector<RankedBaseline> baselines;
  std::optional<double> loss;  ///< by what share of its time the winner may be slower than another finalist; see Choice
};

/// How good a measurement is by the objective of the run, in its unit, and whether more is better.
/// The caller computes it, because this may need expressions.
struct Merit {
  double value = 0;
  bool maximize = false;
  bool by_time = true;  ///< follows from the time alone (time, gflops)

  /// Less is better.
  double cost() const { return maximize ? -value : value; }
};

/// Ranks measured trials: `merits[i]` belongs to `trials[i]` and is ignored for failed ones. Without finals they are
/// ranked by merit (ties by lower mesh_idx), early-stopped ones after complete ones. With finals, choose_winner() has
/// the winner; the specs that tie with it (Judge::ties) follow, then all others, by the times that are shown: the
/// finals' where a spec came through them, else the sweep's. If the merit does not follow from the time, the other
/// finalists follow by merit, and then those that were none; and if these finals have no costs, as older ones do, merit
/// has the winner, too, and no tie is declared. Specs with the same code follow the one that was timed for them.
/// Precondition: the sizes are equal.
Ranking rank(std::span<const Trial> trials, std::span<const Merit> merits, const Finals* finals,
             SameCode same_code = {});

/// Which points are on the Pareto front: no other point is at least as good in every objective and better in one.
/// `costs[i]` holds the costs of point i, one per objective; lower is better. A point with a NaN is not on the front.
std::vector<bool> pareto_front(std::span<const std::vector<double>> costs);

/// The specs that enter the finals: the best `top` complete ones and all within `margin` (0.15) of the best, at most
/// `limit`. One spec represents all with the same code, and is ranked by the best of them.
std::vector<const Trial*> choose_finalists(std::span<const Trial> trials, std::span<const Merit> merits, int top,
                                           double margin, int limit, const SameCode& same_code = {});

}  // namespace tune
