#pragma once
#include <vector>

#include "search/search.h"

namespace tune {

/// Steps from a point that make sense for the kind of each parameter: a categorical one, or one of few values, takes
/// any other; of the others an ordinal one goes up or down by one or two values, an interval is halved towards both
/// ends again and again, a ratio goes up and down by one, two and four steps of multiplication.
class Moves {
 public:
  /// `specs` must outlive this.
  explicit Moves(const ValidSpecs& specs);

  /// The valid points one step away, in a fixed order.
  std::vector<Point> around(const Point& point) const;
  /// Like the point but for a few random steps; it may be the point itself, and need not be valid.
  Point mutated(Point point, int steps, Random& random) const;

  /// Where a parameter's value stands among the others, numbers by size, from 0.
  std::uint32_t rank(const Point& point, std::size_t parameter) const;
  /// The value of this rank, or of the nearest rank there is.
  void set_rank(Point& point, std::size_t parameter, double rank) const;

 private:
  /// A parameter's value indices in the order in which steps go, and where each stands in it.
  struct Ladder {
    Kind kind = Kind::ordinal;
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> rank;
  };
  std::vector<std::uint32_t> steps_from(const Ladder& ladder, std::uint32_t digit) const;

  const ValidSpecs* specs_;
  std::vector<std::vector<Ladder>> ladders_;       ///< per mapping and parameter
  std::vector<std::vector<std::size_t>> movable_;  ///< per mapping: parameters with several values
};

}  // namespace tune
