#pragma once
#include <filesystem>

#include "exec/process/deadlines.h"
#include "exec/workers.h"

// What is installed with `tune`.

namespace tune::commands {

/// It has the tuning files.
std::filesystem::path folder_of_configs();
/// It has the files of known devices.
std::filesystem::path folder_of_devices();
exec::Workers find_workers(const exec::Deadlines& deadlines = {}, exec::OtherMachines* others = nullptr);

}  // namespace tune::commands
