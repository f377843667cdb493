#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
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

/// What became of the finals.
struct FinalsOutcome {
  std::optional<Finals> held;              ///< unset: there are no rounds of any
  bool interrupted = false;                ///< before their end: `held` has the rounds until then
  std::optional<std::string> date;         ///< see Journal::date_of; unset: this run held them
  std::string why_none;                    ///< empty: there was no need for any, or it is not known
  std::string no_winner;                   ///< why no spec wins although some are valid: all failed in the finals
  bool unrivalled = false;                 ///< the sweep left one spec that they could have timed
  std::optional<std::int64_t> overlooked;  ///< the mesh_idx of overlooked_spec()
  DisturbedSpecs disturbed;
  double needed_seconds = 0;  ///< where there was no time for finals

  bool has_winner() const { return no_winner.empty(); }
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
};

}  // namespace tune::results
