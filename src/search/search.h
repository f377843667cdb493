#pragma once
#include <optional>

#include "model/constraints/valid_specs.h"

namespace tune {

using Point = ValidSpecs::Point;

/// Decides which point of a set of valid specs to try next. Any number of points may be out at once, and they may be
/// told in any order; the same seed and the same order of calls give the same points on every machine.
class Search {
 public:
  virtual ~Search() = default;
  /// A point never asked before; nullopt only when all have been.
  virtual std::optional<Point> ask() = 0;
  /// The point will be tried on somebody else's advice, and told; false: it is not valid, or was asked for before.
  virtual bool claim(const Point& point) = 0;
  /// What a point that was asked for or claimed cost: lower is better, any sign; nullopt: it failed.
  virtual void tell(const Point& point, std::optional<double> cost) = 0;
};

}  // namespace tune
