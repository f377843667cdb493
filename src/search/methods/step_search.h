#pragma once
#include "search/methods/design.h"
#include "search/methods/neighbours.h"

namespace tune::search {

/// A point that was tried.
struct Visited {
  Point point;
  double cost = 0;
};

/// The base of searches that go from point to point: random numbers, the set of untried points, steps, and a design
/// that provides a point when there is no step to make.
class StepSearch : public Search {
 public:
  bool claim(const Point& point) override { return untried_.take(point); }

 protected:
  /// `specs` must outlive this.
  StepSearch(const ValidSpecs& specs, std::uint64_t seed)
      : random_(seed),
        untried_(specs),
        moves_(specs),
        coordinate_system_(specs.space()),
        design_(coordinate_system_, specs) {}

  /// Takes the next point of the design; nullopt: none is left.
  std::optional<Point> draw() { return design_.draw(untried_, random_); }

  Random random_;
  Untried untried_;
  Neighbours moves_;

 private:
  CoordinateSystem coordinate_system_;
  Design design_;
};

}  // namespace tune::search
