#pragma once
#include <optional>

#include "model/device.h"
#include "model/problem.h"

namespace tune {

/// How many processes that have the problem loaded the device's memory holds at a time, with one kept free for what
/// else is on it; at least 1. nullopt: the device does not tell its memory, or the problem is a
/// program's own.
std::optional<int> processes_that_fit(const Problem& problem, const Device& device);

}  // namespace tune
