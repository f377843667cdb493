#pragma once
#include <vector>

#include "search/search.h"

namespace tune::search {

/// Steps from a point that suit the kind of each parameter. A categorical parameter, or one with few values, takes any
/// other value. Of the others, an ordinal one moves by one or two values, an interval moves to either end, half of the
/// way there, a quarter, and so on, and a ratio moves to the next values and to those nearest to a quarter, half,
/// double and so on of it.
class Neighbours {
 public:
  /// `specs` must outlive this.
  explicit Neighbours(const ValidSpecs& specs);

  /// The valid points one step away, in a fixed order.
  std::vector<Point> around(const Point& point) const;
  /// The point after a few random steps. It may be the same point again, and it need not be valid.
  Point mutated(Point point, int steps, Random& random) const;

 private:
  /// A parameter's value indices in the order in which steps go, and where each stands in it.
  struct Ladder {
    Kind kind = Kind::ordinal;
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> rank;
    std::vector<double> numbers;  ///< by rank, of a long ratio
  };
  std::vector<std::uint32_t> steps_from(const Ladder& ladder, std::uint32_t digit) const;

  const ValidSpecs* specs_;
  std::vector<std::vector<Ladder>> ladders_;       ///< per mapping and parameter
  std::vector<std::vector<std::size_t>> movable_;  ///< per mapping: parameters with several values
};

}  // namespace tune::search
