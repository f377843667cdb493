#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/messages.h"

namespace tune {

/// A device that measure processes run on.
struct ChosenDevice {
  int index = 0;             ///< among those that the backend sees
  std::string id;            ///< empty where the backend has no choice
  bool one_process = false;  ///< it admits one at a time
  /// Makes a process see this one alone. TUNE_GPU is its id, which workers for CUDA use to see it sooner.
  std::map<std::string, std::string> environment;
};

/// What `--devices` names: `all`, or indices as in `0,2`; nullopt: the first there is. The results of several are
/// compared, so they must be of one model. Throws Error(bad_input).
std::vector<ChosenDevice> choose_devices(const std::optional<std::string>& names, const wire::Hello& hello);

}  // namespace tune
