#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/device.h"

namespace tune::exec {

/// A device of which only the architecture is known: sm_90a, gfx90a. Its properties are the limits of a block, and on
/// NVIDIA's those of a multiprocessor, which are the same for all devices of the architecture. nullopt if they are not
/// known here. Sources: CUDA programming guide, "Technical Specifications per Compute Capability", and the toolkit's
/// cuda_occupancy.h; ROCm's "AMD GPU specifications".
std::optional<Device> device_of(std::string_view arch);
/// Whether code for this architecture is built by this backend; true for names that tell nothing.
bool is_built_by(std::string_view arch, Backend backend);
/// Whether a device of this architecture runs what the backend builds. GPUs are known by their names.
bool is_device_of(std::string_view arch, Backend backend);

}  // namespace tune::exec
