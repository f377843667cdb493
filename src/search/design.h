#pragma once
#include <cstdint>
#include <vector>

#include "search/coordinates.h"
#include "search/untried.h"

namespace tune {

/// Points spread over the valid specs as a Latin hypercube is over a box: each next one is, of a few random ones, the
/// one whose values were used least so far.
class Design {
 public:
  explicit Design(const Coordinates& coordinates);
  /// Takes a point; nullopt: none is left.
  std::optional<Point> draw(Untried& untried, Random& random);

 private:
  std::int64_t uses(const Point& point) const;

  const Coordinates* coordinates_;
  std::vector<std::vector<std::int64_t>> counts_;  ///< per axis: points in each of its strata
};

}  // namespace tune
