#pragma once
#include "search/methods/step_search.h"

namespace tune::search {

/// The options of simulated annealing.
struct AnnealingOptions {
  int starts = 10;         ///< the number of points spread over the space first
  double heat = 0.1;       ///< at first, a point whose cost is higher by this fraction is accepted with probability 1/e
  double cooling = 0.97;   ///< the heat is multiplied by this factor after every point
  double coldest = 0.005;  ///< below this heat, the search restarts from the best point with the initial heat
};

/// Simulated annealing: moves to a random neighbour if it is better, and sometimes if it is worse.
class Annealing : public StepSearch {
 public:
  /// `specs` must outlive this.
  Annealing(const ValidSpecs& specs, std::uint64_t seed, AnnealingOptions options);

  std::optional<Point> ask() override;
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  bool accepts(double cost);
  void cool();

  AnnealingOptions options_;
  int asked_ = 0;
  double heat_;
  std::optional<Visited> here_, best_;
};

}  // namespace tune::search
