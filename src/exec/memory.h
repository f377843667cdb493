#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "model/device.h"
#include "model/problem.h"

namespace tune::exec {

/// How many processes fit into the device's memory at a time, each with the problem loaded and with this much
/// workspace; room for one more is left for whatever else is on the device. At least 1. nullopt if the size of the
/// memory is not known, or if a program is tuned, whose needs nobody else knows.
std::optional<int> processes_that_fit(Backend backend, const Problem& problem, const Device& device,
                                      std::int64_t workspace_bytes = 0);

/// The same for processes with these workspaces: how many of them fit, counted from the first.
std::optional<int> processes_that_fit(Backend backend, const Problem& problem, const Device& device,
                                      std::span<const std::int64_t> workspace_bytes);

}  // namespace tune::exec
