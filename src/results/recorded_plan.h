#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "config/reader/load.h"
#include "recording/recording.h"

namespace tune::results {

/// What a recorded run is replayed for.
struct RecordedPlanRules {
  std::filesystem::path recording;                   ///< its file
  std::vector<std::filesystem::path> yamls;          ///< none: the space is what was recorded
  config::LoadOptions load;                          ///< what the command line changes in them
  std::optional<std::filesystem::path> device_file;  ///< instead of the recorded device
};

/// The plan that a recording can answer: that of tuning files, or of the recording itself. Throws Error(bad_input) if
/// the recording is of another kernel or of other parameters.
config::Loaded load_recorded_plan(const recording::Recording& recording, const RecordedPlanRules& rules);

}  // namespace tune::results
