#pragma once
#include <vector>

#include "search/coordinates.h"
#include "search/methods/untried.h"

namespace tune::search {

/// A space-filling design that spreads points over the valid specs as a Latin hypercube does over a box. Each point is
/// the one of a few random points whose values were used least so far, relative to how many specs have these values.
/// `odd_use` is added to that for each octave of a value's odd part, and there are more points to choose from.
class Design {
 public:
  /// `coordinate_system` must outlive this.
  Design(const CoordinateSystem& coordinate_system, const ValidSpecs& specs, double odd_use = 0);
  /// Takes a point; nullopt if none is left.
  std::optional<Point> draw(Untried& untried, Random& random);

 private:
  double use(const Point& point) const;

  const CoordinateSystem* coordinate_system_;
  double odd_use_;
  std::vector<std::vector<double>> counts_;  ///< per axis: the number of points in each stratum
  std::vector<std::vector<double>> shares_;  ///< per axis: the number of specs of a sample in each stratum
};

}  // namespace tune::search
