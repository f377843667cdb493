#pragma once
#include <optional>

#include "model/statistics/verdict.h"
#include "report/summary.h"
#include "results/tuning_outcome.h"

namespace tune::results {

/// What the user asks of a result.
struct Demands {
  bool right_results = false;      ///< --compare
  std::optional<double> accuracy;  ///< by what share of its time the winner may be slower than the best
  std::optional<double> noise;     ///< how well the winner's time is to be known, as a share of it
  bool fresh = false;              ///< --fresh: measures again what the journal knows
  std::optional<double> finals_budget, time_budget;  ///< the most seconds of finals and run; unset of a recorded one
};

/// Judges the first row of a tuning. Knows no files and prints nothing.
Verdict verdict_of(const report::Summary& summary, const TuningOutcome& outcome, const Demands& demands);

}  // namespace tune::results
