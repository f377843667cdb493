#pragma once
#include <string>
#include <vector>

#include "commands/tune/options.h"
#include "commands/tune/target.h"
#include "config/recorded/best_yaml.h"
#include "model/statistics/ranking.h"
#include "model/values/error.h"
#include "results/tuning_outcome.h"

namespace tune::commands {

/// What a tuning came to.
struct Tuned {
  ExitCode code = ExitCode::none_valid;
  results::TuningOutcome outcome;
  std::vector<Ranked> rows;                ///< the specs that were ranked, best first; they point into the outcome
  std::optional<config::BestResult> best;  ///< with --tune, if there is a valid spec
  std::optional<Verdict> verdict;          ///< with --tune
  std::string date;                        ///< when the best was measured
  bool estimated = false;                  ///< an estimate was printed
  bool started_workers = false;            ///< something was built or timed, because not everything was known
};

/// Tries the specs, and reports and writes what it found. If an error or an interruption ends the tuning early, the
/// results are printed too, and then the exception is rethrown.
Tuned tune(Target& target);

/// The same for commands that tune several times: a problem without a valid spec is said, and does not end the others.
Tuned tune_one_of_several(Target& target);

}  // namespace tune::commands
