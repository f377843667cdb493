#pragma once
#include <functional>
#include <vector>

#include "recording/journal.h"
#include "report/progress.h"
#include "results/tuning_outcome.h"
#include "tuning/measuring.h"
#include "tuning/tuner.h"

namespace tune::tuning {

/// What kFirstRoundsSeconds is in `sustained` on a GPU, and how many seconds a turn takes there (H200): a load, and
/// three samples of 0.1 s.
inline constexpr double kSustainedFirstRoundsSeconds = 120, kSustainedTurnSeconds = 0.65;

/// Whether and how the finals of a tuning are held.
struct FinalsStageRules {
  wire::RoundRules settings;  ///< but for what the plan and the clock decide
  int finalists = 5;
  /// Whether recorded finals are held again because a contender failed there in this way, for the first time or
  /// repeatedly.
  std::function<bool(const Failure&, bool repeated)> again;
  bool one_process = false;           ///< the device admits one process at a time: no finals can be held
  bool hold = true;                   ///< --no-finals: false
  bool alone = false;                 ///< a spec that nothing else meets is timed in rounds, too
  std::optional<double> budget;       ///< seconds of the finals
  std::optional<double> time_budget;  ///< seconds of the run, which end at `deadline`
  std::optional<report::Progress::Time> deadline;
  std::vector<wire::Contender> stored = {};  ///< baselines that earlier runs have built
};

/// What the finals need of the run.
struct FinalsParts {
  const Plan& plan;
  const Objective& objective;
  const exec::RequestFactory& requests;
  recording::Journal& journal;
  report::Progress& progress;
  Measuring& measuring;
};

/// The end of a tuning: chooses who meets in the finals (the best specs, today's configuration, the baselines), and
/// holds them unless the journal remembers them. Finals and notes go to `outcome`, whose default_spec is today's
/// configuration. Does nothing without a valid spec, and holds no finals for one contender, unless the rules say so.
/// Throws Interrupted, after which the outcome has the rounds that were held, and Error(environment). If no spec
/// finishes the finals, the outcome says that there is no winner.
void decide_in_finals(const FinalsParts& parts, const FinalsStageRules& rules, Tuner& tuner,
                      results::TuningOutcome& outcome);

}  // namespace tune::tuning
