#pragma once
#include <vector>

#include "search/step_search.h"

namespace tune {

struct DifferentialEvolutionOptions {
  int population = 20;
  double weight = 0.7;     ///< of the difference of two members
  double crossover = 0.6;  ///< share of the values taken from the variant
  double greed = 0.8;      ///< how far the variant is drawn towards the best
};

/// Each member is tried against a variant of itself: itself drawn towards the best, plus a weighted difference of two
/// others, in ranks of values; the better one stays.
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
  std::vector<Challenge> challenges_;  ///< out
  std::size_t next_ = 0;
};

}  // namespace tune
