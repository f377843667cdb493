#pragma once
#include <vector>

#include "search/step_search.h"

namespace tune {

struct GeneticOptions {
  int population = 15;
  int tournament = 4;     ///< a parent is the best of so many
  double mutation = 1.0;  ///< steps per child on average
};

/// A steady population of the best points so far: each next one takes every value from one of two parents, and a few
/// steps.
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

}  // namespace tune
