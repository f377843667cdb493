#pragma once
#include <cstdint>
#include <vector>

#include "search/coordinates.h"
#include "search/untried.h"

namespace tune {

/// Points spread over the valid specs as a Latin hypercube is over a box: each next one is, of a few random ones, the
/// one whose values were used least so far for how many specs have them.
class Design {
 public:
  /// `coordinate_system` must outlive this.
  Design(const CoordinateSystem& coordinate_system, const ValidSpecs& specs);
  /// Takes a point; nullopt: none is left.
  std::optional<Point> draw(Untried& untried, Random& random);

 private:
  double use(const Point& point) const;

  const CoordinateSystem* coordinate_system_;
  std::vector<std::vector<double>> counts_;  ///< per axis: points in each of its strata
  std::vector<std::vector<double>> shares_;  ///< and how many specs are there, of a sample
};

}  // namespace tune
