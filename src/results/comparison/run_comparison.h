#pragma once

#include <filesystem>
#include <optional>

#include "model/statistics/objective.h"
#include "results/comparison/recorded_times.h"

namespace tune::results {

/// What two results may differ in.
struct ComparisonRules {
  double threshold = 0.03;  ///< a share of the old time by which a regression is slower at least
  bool any_device = false;  ///< results of different devices are compared, with a warning
  bool same_run = false;    ///< both are the same record
};

/// Compares what two runs found, problem by problem and spec by spec: finals with finals where both have them, else
/// sweep with sweep. Problems are the same if their sizes are; if a run has one problem and a file does not say which,
/// they count as the same. What cannot be compared is warned of: a problem of one run alone, one for which the old run
/// has no time, and one for which the two have neither the kernel nor a spec in common. Throws Error(bad_input) if the
/// devices differ, or the old run has no time at all.
RunComparison compare(const RecordedTimes& before, const RecordedTimes& now, const ComparisonRules& rules);
/// Throws what `compare` throws, before `now` has any times, and if no problem is in both.
void require_comparable(const RecordedTimes& before, const RecordedTimes& now, const ComparisonRules& rules);

/// Compares the best of a run with that of an earlier result, whose winner it has timed again under this label in its
/// finals if it could. Then they are compared by the rounds that both have, and the recorded time decides nothing. What
/// is the same build, measured in the same way (TuningOutcome::same_as_earlier), is as good whatever was timed.
/// Recorded times of a CPU that differ from run to run show a slowdown only beyond a factor of two.
RunComparison compare_with_earlier(RecordedTimes before, const RecordedTimes& now, const TuningOutcome& outcome,
                                   const std::string& label, const ComparisonRules& rules);

/// Compares the best of a run with a spec that its finals have timed under this label, by the rounds that both have.
RunComparison compare_with_contender(const RecordedTimes& now, const TuningOutcome& outcome, const std::string& label,
                                     const ComparisonRules& rules);

/// How good the result of a best.yaml is by this objective, as Merit::cost; nullopt if it does not say.
std::optional<double> recorded_cost(const std::filesystem::path& best, const Objective& objective);
/// Compares the best by the objective with an earlier result that was not timed again. Both are known exactly if what
/// is measured now is the same in each round, as the size of a file is; else both are taken to be as noisy as that.
/// Without a cost of the earlier result nothing is known.
void compare_costs(std::optional<double> before, const Objective& objective, const TuningOutcome& outcome,
                   RunComparison& comparison);

}  // namespace tune::results
