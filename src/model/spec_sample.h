#pragma once
#include <cstddef>
#include <vector>

#include "model/restriction.h"
#include "model/space.h"

namespace tune {

/// Valid points of a space whose constraints are too entangled to count them, uniform and the same every time, no more
/// than `wanted`: drawn from what those constraints leave that can be solved, and kept where the others hold too. They
/// may be fewer, or none, where few points meet the others.
std::vector<Space::Point> sample_points(const Space& space, const std::vector<Restriction>& restrictions,
                                        std::size_t wanted);

}  // namespace tune
