#pragma once
#include <string>

#include "model/plan.h"
#include "recording/recording.h"

namespace tune::page {

/// What a report shows of a recorded run, as a JSON object that src/page/data.js reads: device and problem, every spec
/// with its place by the ranking's rule, its figures and when it was done, the finals, and the reasons of failures.
/// `plan` tells what is not recorded: objective, metrics, and the work of the problem where an older version did not
/// record it. It may be that of the recording alone. `file` is what the run's file is called on the page.
std::string report_data(const recording::Recording& recording, const Plan& plan, const std::string& file);

}  // namespace tune::page
