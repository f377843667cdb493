#pragma once
#include <optional>

#include "model/constraints/valid_specs.h"

namespace tune::search {

/// A point of the space as indices: which mapping of the union, and which value of each of its parameters.
using Point = ValidSpecs::Point;

/// Decides which point of a set of valid specs to try next. Any number of points may be out at once, and they may be
/// told in any order; the same seed and the same order of calls give the same points on every machine.
class Search {
 public:
  virtual ~Search() = default;
  /// A point never asked before; nullopt only when all have been.
  virtual std::optional<Point> ask() = 0;
  /// Announces a point that will be tried and told though it was not asked for; false: it is invalid or was asked
  /// before.
  virtual bool claim(const Point& point) = 0;
  /// Reports the cost of a point that was asked for or claimed. Lower is better, any sign is fine; nullopt: it failed.
  virtual void tell(const Point& point, std::optional<double> cost) = 0;
};

}  // namespace tune::search
