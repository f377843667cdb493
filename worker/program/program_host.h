#pragma once
#include <string>

#include "model/device.h"

namespace tune::worker {

/// This machine: the CPU's model, the kernel's release, and the properties `cores`, `memory_bytes` and `name`.
Device host_device();

/// The versions of the compilers that the default rules call, those that are installed: part of every build key.
/// Empty if there is none, which scripts do not mind.
std::string compiler_versions();

}  // namespace tune::worker
