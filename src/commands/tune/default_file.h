#pragma once
#include <optional>
#include <string>

#include "commands/tune/options.h"
#include "model/device.h"

namespace tune::commands {

/// The shipped tuning file of a GEMM on this device, without its folder. `device`: nullopt if it is not known.
std::string shipped_gemm(Backend backend, const std::optional<Device>& device);

/// The options with a tuning file: where the command line gives sizes and neither a tuning file nor a command, and the
/// working folder has no `gemm.yaml`, it is the shipped one for the device that is here, which is named on stderr.
/// Throws Error(environment) if it is not installed.
TuneOptions with_tuning_file(TuneOptions options);

}  // namespace tune::commands
