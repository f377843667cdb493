#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/restriction.h"
#include "model/space.h"

namespace tune {

/// A random sample of the valid specs of a space whose constraints are too entangled to count them.
struct SpecSample {
  std::vector<Space::Point> points;
  double least = 0, most = 0;  ///< the 95 % interval of how many valid specs there are

  /// The interval: `1480000 to 1530000 (95 % confidence)`, rounded outwards to three digits.
  std::string count_text() const;
};

/// Draws points uniformly from those that meet the constraints that can be solved, and keeps those for which the others
/// hold too, up to `most` of them; there may be none. It draws the same ones every time.
SpecSample sample_specs(const Space& space, const std::vector<Restriction>& restrictions, std::size_t most = 20'000);

}  // namespace tune
