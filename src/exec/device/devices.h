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

/// The devices that `--devices` names: `all`, indices as in `0,2`, or a model, which means all devices of it; nullopt
/// means the first device. The results of several devices are compared, so they must be of one model. Throws
/// Error(bad_input).
std::vector<ChosenDevice> choose_devices(const std::optional<std::string>& names, const wire::Hello& hello);

/// The models of a machine's devices, each once, in the order of the devices; where the backend has no devices to
/// choose from, that of its only one.
std::vector<std::string> models_of(const wire::Hello& hello);

}  // namespace tune::exec
