#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "config/yaml/node.h"
#include "model/device.h"
#include "model/statistics/stats.h"
#include "model/trial.h"

namespace tune::config {

/// What a best.yaml says of its one spec: how long it took then, on what, and what was built. Texts are empty where
/// the file does not say.
struct RecordedResult {
  Estimate time;
  std::int64_t launches = 0;  ///< 0: the file does not say
  std::string artifact_hash;
  std::filesystem::path store_path;  ///< of the artifact in the build store
  std::string device, driver, arch, compiler;
  PowerState state = PowerState::burst;
  std::string statistic = to_text(TimeRule());  ///< what of the launches the sweep's times were
  std::map<std::string, double> figures = {};   ///< other columns of its row
};

/// Reads `result:` and `device:` of a tuning file; nullopt if it has no `result: time_ms:`, which other files than ours
/// may lack. Reports times that are none.
std::optional<RecordedResult> read_result(const Node& root, Diagnostics& diagnostics);

}  // namespace tune::config
