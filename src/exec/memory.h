#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "model/device.h"
#include "model/problem.h"

namespace tune {

/// How many processes that have the problem loaded, and this much workspace each, the device's memory holds at a time,
/// with one kept free for what else is on it; at least 1. nullopt: the device does not tell its memory, or what is
/// tuned is a program, which alone knows what it takes.
std::optional<int> processes_that_fit(Backend backend, const Problem& problem, const Device& device,
                                      std::int64_t workspace_bytes = 0);

/// The same of processes with these workspaces: how many of them, from the first on.
std::optional<int> processes_that_fit(Backend backend, const Problem& problem, const Device& device,
                                      std::span<const std::int64_t> workspace_bytes);

}  // namespace tune
