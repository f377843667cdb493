#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "config/reader/filter.h"
#include "model/grid_scan.h"
#include "model/space.h"
#include "model/statistics/comparison.h"
#include "model/statistics/finals.h"
#include "model/statistics/verdict.h"
#include "model/trial.h"
#include "model/values/natural.h"
#include "report/failure_summary.h"
#include "results/notices.h"

namespace tune::results {

/// How many specs something visibly disturbed in the sweep that would be near the best without that.
struct DisturbedSpecs {
  int all = 0;
  int left_out = 0;  ///< of the finals, in which the others are timed again
};

/// There are no rounds of any finals, and why.
struct NoFinals {
  /// `not_due`: fewer than two compete, or the run has not come to them. `not_recorded`: a recording does not say it.
  enum class Why { not_due, not_recorded, not_wanted, recorded_times_decide, one_process, memory_for_one, no_time };
  Why why = Why::not_due;
  double needed_seconds = 0;  ///< for so many rounds that they tell specs apart; of `no_time`
};

/// Finals that were held, now or, as the journal has them, before.
struct HeldFinals : Finals {
  std::optional<std::string> date = {};         ///< see Journal::Recorded; unset: this run held them
  std::optional<std::int64_t> overlooked = {};  ///< the mesh_idx of overlooked_spec()
  DisturbedSpecs disturbed = {};
};

/// What became of the finals.
struct FinalsOutcome {
  std::variant<NoFinals, HeldFinals> state;
  bool unrivalled = false;   ///< the sweep left one spec that they could have timed
  bool interrupted = false;  ///< before they were over: those held are the rounds until then, if there was any

  /// Null where the other is not.
  const NoFinals* none() const { return std::get_if<NoFinals>(&state); }
  const HeldFinals* held() const { return std::get_if<HeldFinals>(&state); }
  HeldFinals* held() { return std::get_if<HeldFinals>(&state); }
  /// False: those that came into the finals failed there, and one that was too slow for them is not to win instead.
  bool has_winner() const { return held() == nullptr || !all_failed(*held()); }
};

/// Everything a tuning run produced.
struct TuningOutcome {
  std::vector<Trial> trials;
  std::optional<Natural> specs;      ///< how many there are, tried or not; unset: that is not known, or not of interest
  std::optional<Spec> default_spec;  ///< today's configuration
  FinalsOutcome finals;
  bool ended_early = false;                 ///< before all specs were tried
  std::optional<RunComparison> comparison;  ///< with the result that --baseline names
  /// The mesh_idx of contenders of the finals that are the same build as that result, measured in the same way.
  std::set<std::int64_t> same_as_earlier;
  std::vector<std::string> verdict;              ///< lines that a recorded run has printed
  std::optional<Decision> decision;              ///< that of these
  std::vector<config::Filter> filters;           ///< what the user asked for alone
  std::vector<GridScan::Pruned> pruned;          ///< of the points that these keep
  std::map<std::int64_t, std::string> unranked;  ///< as Summary has it, of a recorded run; else Results finds out
  report::Logs logs;                             ///< of failed builds
  Notices notes;
  double elapsed_seconds = 0;

  /// Specs whose results are wrong in the finals have failed, although the sweep could time them.
  void fail_wrong_finalists() {
    for (Trial& trial : trials)
      if (const Failure* why = wrong_result_of(finals.held(), trial.spec.mesh_idx)) {
        trial.outcome = *why;
        trial.recorded = finals.held()->date.has_value();
      }
  }
};

}  // namespace tune::results
