#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/device.h"
#include "model/problem.h"
#include "wire/messages.h"

namespace tune::exec {

/// Why what was built cannot be launched in this way, as far as that can be known without a device: on GPUs the number
/// and sizes of the kernels' parameters, which of them are addresses (where the code tells it: HIP), the threads that
/// the kernel was built for, and what a block needs of the device's threads, shared memory and registers. `code` is the
/// artifact, `properties` what the build told. nullopt if nothing is in the way.
std::optional<std::string> launch_fault(Backend backend, std::string_view code,
                                        const std::map<std::string, double>& properties,
                                        std::span<const wire::KernelLaunch> launches, const Problem& problem,
                                        const Device& device);

}  // namespace tune::exec
