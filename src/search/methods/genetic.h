#pragma once
#include <vector>

#include "search/methods/step_search.h"

namespace tune::search {

/// The options of the genetic algorithm.
struct GeneticOptions {
  int population = 15;
  int tournament = 4;     ///< a parent is the best of this many random members
  double mutation = 1.0;  ///< the mean number of steps per child
};

/// A steady-state genetic algorithm on the best points so far: a child takes each value from one of two parents and
/// then makes a few steps.
class Genetic : public StepSearch {
 public:
  /// `specs` must outlive this.
  Genetic(const ValidSpecs& specs, std::uint64_t seed, GeneticOptions options);

  std::optional<Point> ask() override;
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  const Visited& parent();
  Point child();

  GeneticOptions options_;
  int asked_ = 0;
  std::vector<Visited> members_;  ///< best first
};

}  // namespace tune::search
