#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "model/device.h"
#include "model/problem.h"

namespace tune::exec {

/// How many processes fit into the device's memory at a time, each with the problem loaded and with this much
/// workspace; room for one more is left for whatever else is on the device. At least 1. nullopt if the device's memory
/// size is unknown, or if a program is tuned, whose memory use is unknown.
std::optional<int> processes_that_fit(Backend backend, const Problem& problem, const Device& device,
                                      std::int64_t workspace_bytes = 0);

/// How many of the processes with these workspaces fit at a time, counted from the first.
std::optional<int> processes_that_fit(Backend backend, const Problem& problem, const Device& device,
                                      std::span<const std::int64_t> workspace_bytes);

}  // namespace tune::exec
