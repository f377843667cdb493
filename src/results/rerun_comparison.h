#pragma once
#include <string>

#include "config/reader/recorded_result.h"
#include "config/recorded/best_yaml.h"
#include "model/plan.h"
#include "results/notices.h"

namespace tune::results {

/// Notes how the time of a spec compares with the result that its best.yaml, here `file`, holds, and what else is not
/// as it was then: device, driver, compiler, power state, code. Times differ by more than noise if their 95 % intervals
/// do not overlap.
void note_repetition(const std::string& file, const config::RecordedResult& before, const config::BestResult& now,
                     const Plan& plan, Notices& notes);

/// Notes that the `device:` of a tuning file, such as a best.yaml whose size the command line changes, is not the one
/// that it runs on now.
void note_device_of_file(const std::string& file, const config::Source& source, const Device& now, Notices& notes);

}  // namespace tune::results
