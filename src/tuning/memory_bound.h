#pragma once
#include "model/device.h"
#include "model/statistics/objective.h"

namespace tune::tuning {

/// The merit within this share (0.01) of the best that the device's memory allows: no kernel reads and writes the bytes
/// of its problem faster. Throws Error(bad_input) if the objective, the problem or the device do not tell it.
double merit_near_memory_bound(double share, const Plan& plan, const Objective& objective, const Device& device);

}  // namespace tune::tuning
