#pragma once
#include <optional>
#include <vector>

#include "exec/process/deadlines.h"
#include "model/statistics/finals_settings.h"
#include "recording/journal.h"
#include "report/progress.h"
#include "results/tuning_outcome.h"
#include "tuning/measuring.h"
#include "tuning/tuner.h"

namespace tune::tuning {

/// What kFirstRoundsSeconds is in `sustained` on a GPU, and how many seconds a turn takes there (H200): a load, and
/// three samples of 0.1 s.
inline constexpr double kSustainedFirstRoundsSeconds = 120, kSustainedTurnSeconds = 0.65;

/// The tuning whose finals are held, and what it knows of them beside the user's settings.
struct FinalsJob {
  const FinalsSettings& settings;
  const exec::Deadlines& deadlines;
  const Plan& plan;
  const Objective& objective;
  const exec::RequestFactory& requests;
  recording::Journal& journal;
  report::Progress& progress;
  Measuring& measuring;
  bool retry_failed = false;               ///< recorded finals are held again if a contender failed there
  bool one_process = false;                ///< the device admits one process at a time: no finals can be held
  bool alone = false;                      ///< a spec that nothing else meets is timed in rounds, too
  bool one_of_several = false;             ///< tunings: that of RoundRules
  double accuracy = kAccuracy;             ///< that of RoundRules
  std::optional<double> width = {};        ///< that of RoundRules; absent: nobody asked for one
  int finalists = 0;                       ///< how many specs take part at least
  std::optional<double> time_budget = {};  ///< seconds of the run, which end at `deadline`
  std::optional<report::Progress::Time> deadline = {};
  std::optional<wire::Question> question = {};
  std::vector<wire::Contender> stored = {};  ///< baselines that earlier runs have built
};

/// The end of a tuning: chooses who meets in the finals (the best specs, today's configuration, the baselines), and
/// holds them unless the journal remembers them. Finals and notes go to `outcome`, whose default_spec is today's
/// configuration. Does nothing without a valid spec, and holds no finals for one contender, unless the job says so.
/// Throws Interrupted, after which the outcome has the rounds that were held, and Error(environment). If no spec
/// finishes the finals, the outcome says that there is no winner.
void decide_in_finals(const FinalsJob& job, Tuner& tuner, results::TuningOutcome& outcome);

}  // namespace tune::tuning
