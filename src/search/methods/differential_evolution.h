#pragma once
#include <vector>

#include "search/methods/step_search.h"

namespace tune::search {

/// The options of differential evolution.
struct DifferentialEvolutionOptions {
  int population = 20;
  double weight = 0.7;     ///< of the difference of two members
  double crossover = 0.6;  ///< share of the values taken from the variant
  double greed = 0.8;      ///< how far the variant is moved towards the best member
};

/// Differential evolution on the ranks of values: each member competes with a variant of itself, which is moved towards
/// the best member and by a weighted difference of two others. The better of the two stays.
class DifferentialEvolution : public StepSearch {
 public:
  /// `specs` must outlive this.
  DifferentialEvolution(const ValidSpecs& specs, std::uint64_t seed, DifferentialEvolutionOptions options);

  std::optional<Point> ask() override;
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  struct Challenge {
    Point point;
    std::size_t member;
  };
  Point variant(std::size_t member);
  const Visited& best() const;

  DifferentialEvolutionOptions options_;
  std::vector<Visited> members_;
  std::vector<Challenge> challenges_;  ///< asked for and not told yet
  std::size_t next_ = 0;
};

}  // namespace tune::search
