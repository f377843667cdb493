#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/messages.h"

namespace tune::exec {

/// A device that measure processes run on.
struct ChosenDevice {
  int index = 0;             ///< among those that the backend sees
  std::string id;            ///< empty where the backend has no choice
  bool one_process = false;  ///< it admits one process at a time
  /// Makes a process see only this device. TUNE_GPU is its id, by which workers for CUDA find it sooner.
  std::map<std::string, std::string> environment;
};

/// The devices that `--devices` names: `all`, or indices as in `0,2`; nullopt means the first device. The results of
/// several devices are compared, so they must be of one model. Throws Error(bad_input).
std::vector<ChosenDevice> choose_devices(const std::optional<std::string>& names, const wire::Hello& hello);

}  // namespace tune::exec
