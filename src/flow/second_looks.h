#pragma once
#include "flow/findings.h"
#include "model/plan.h"
#include "model/statistics/objective.h"
#include "tuner.h"

namespace tune::flow {

/// Times once more what the sweep would dismiss although only a disturbance may have made it slow: specs that are too
/// far behind the best for the finals, visibly waited for others (Measurement::clean_seconds; on a GPU also those that
/// ran at a lower clock than the best), and would be near enough without that. What disturbs a launch can only make it
/// longer, so the faster look counts, and the higher of the two bounds of what the spec takes alone. Those with the
/// lowest bounds come first; all looks together, also those of earlier runs, last for a twentieth of what measuring the
/// specs took, or half a second if that is more.
///
/// The journal gets the merged trial, which has had its second look, so a run that continues finds the same. Does
/// nothing if specs are not ranked by time alone, or where nothing is known of disturbances. The tuner's runner must
/// measure what it is given, whatever is recorded of it. Throws as Tuner::sweep.
SecondLooks look_again(Tuner& tuner, const Plan& plan, const Objective& objective);

}  // namespace tune::flow
