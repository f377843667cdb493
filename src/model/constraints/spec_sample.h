#pragma once
#include <cstddef>
#include <vector>

#include "model/constraints/restriction.h"
#include "model/space.h"

namespace tune {

/// At most `wanted` valid points of a space whose constraints are too entangled to count its specs; the same ones every
/// time. Points are drawn uniformly from those that meet the constraints that can be solved, and kept if the others
/// hold too; there may be none.
std::vector<Space::Point> sample_points(const Space& space, const std::vector<Restriction>& restrictions,
                                        std::size_t wanted);

}  // namespace tune
