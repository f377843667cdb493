#pragma once
#include <filesystem>
#include <string>

#include "config/reader/recorded_result.h"
#include "model/space.h"

namespace tune::config {

/// What a best.yaml holds of a run: its spec and how long that took. The source need not be there, and nothing of the
/// file is evaluated.
struct RecordedBest {
  std::string kernel;   ///< the tuning file's name
  std::string problem;  ///< see problem_size_text
  Spec spec;
  RecordedResult result;
};

/// Throws Error(bad_input) with every problem of the file if it is no best.yaml: a tuning file without `result:
/// time_ms:`, or with several specs.
RecordedBest read_best(const std::filesystem::path& path);

}  // namespace tune::config
