#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/device.h"
#include "wire/messages.h"

namespace tune::exec {

/// Threads of a block.
std::int64_t threads_of(const wire::KernelLaunch& launch);

/// The share of a multiprocessor's threads that its resident blocks fill, 0 to 1, by the rules of NVIDIA's devices
/// (CUDA programming guide, "Multiprocessor level"), and of AMD's gfx906, gfx908, gfx90a, gfx942 and gfx950 (LLVM's
/// AMDGPU backend, from which its compiler prints `Occupancy`): the smallest over the launches. `properties` are the
/// build's (registers, shared), limits the device's. nullopt if either does not tell.
std::optional<double> occupancy(const std::vector<wire::KernelLaunch>& launches,
                                const std::map<std::string, double>& properties, const Device& device);

}  // namespace tune::exec
