#pragma once
#include <cstddef>
#include <vector>

#include "model/constraints/restriction.h"
#include "model/space.h"

namespace tune {

/// Valid points of a space whose constraints are too entangled to count them, the same every time, no more than
/// `wanted`: drawn uniformly from what those constraints leave that can be solved, and kept where the others hold too.
/// Where hardly any are, up to 1000 that halving finds, which are not uniform; there may be none even so.
std::vector<Space::Point> sample_points(const Space& space, const std::vector<Restriction>& restrictions,
                                        std::size_t wanted);

}  // namespace tune
