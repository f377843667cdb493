#pragma once
#include <string>

#include "results/comparison/recorded_times.h"

namespace tune::results {

/// Pairs what two runs found for one problem, not yet judged. A spec is the same in both if its parameters have the
/// same values; one that only one of them has tells specs apart only if it has several values there. Precondition: the
/// problem of `before` has a best spec.
ComparedShape compared_shape(const ProblemTimes& before, const ProblemTimes& now);

/// Why a run has no time for a problem: the first failure, or that all specs were pruned.
std::string why_no_time(const ProblemTimes& problem);

}  // namespace tune::results
