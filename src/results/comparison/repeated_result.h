#pragma once
#include <string>

#include "config/recorded/best_yaml.h"
#include "results/notices.h"

namespace tune::results {

/// Notes how the time of a spec compares with the result that its best.yaml, `file`, holds, and what else is not as it
/// was then. Times differ by more than noise if the 95 % interval of their ratio does not contain 1; but where it is
/// not beyond what other processes and other hours differ by, the note says that this may be the reason. `state` is the
/// one of now.
void note_repeated_result(const std::string& file, const config::RecordedResult& before, const config::BestResult& now,
                          PowerState state, Notices& notes);

/// Notes that the `device:` of a tuning file, such as a best.yaml whose size the command line changes, is not the one
/// that it runs on now.
void note_device_of_file(const std::string& file, const config::Source& source, const Device& now, Notices& notes);

}  // namespace tune::results
