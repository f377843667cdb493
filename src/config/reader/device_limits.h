#pragma once
#include <span>
#include <vector>

#include "model/device.h"
#include "model/plan.h"

namespace tune::config {

/// What a GPU cannot launch, as constraints on a spec, so that it is pruned before it is built: the extents of grid and
/// block, a block's threads and shared memory, clusters. `names` are those that the launches were parsed over. Limits
/// that the device does not tell are left out.
std::vector<Constraint> device_limits(std::span<const Launch> launches, Backend backend, const Device& device,
                                      const Names& names);

}  // namespace tune::config
