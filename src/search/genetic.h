#pragma once
#include <vector>

#include "search/design.h"
#include "search/moves.h"

namespace tune {

struct GeneticOptions {
  int population = 15;
  int tournament = 4;     ///< a parent is the best of so many
  double mutation = 1.0;  ///< steps per child on average
};

/// A steady population of the best points so far: each next one takes every value from one of two parents, and a few
/// steps.
class Genetic : public Search {
 public:
  /// `specs` must outlive this.
  Genetic(const ValidSpecs& specs, std::uint64_t seed, GeneticOptions options);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override { return untried_.take(point); }
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  struct Member {
    Point point;
    double cost = 0;
  };
  const Member& parent();
  Point child();

  GeneticOptions options_;
  Random random_;
  Untried untried_;
  Coordinates coordinates_;
  Design design_;
  Moves moves_;
  int asked_ = 0;
  std::vector<Member> members_;  ///< best first
};

}  // namespace tune
