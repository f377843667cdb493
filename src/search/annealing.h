#pragma once
#include "search/step_search.h"

namespace tune {

struct AnnealingOptions {
  int starts = 10;         ///< points spread over the space first
  double heat = 0.1;       ///< at first a point worse by this share is taken in one case of e
  double cooling = 0.97;   ///< heat is multiplied by it after every point
  double coldest = 0.005;  ///< below it, it is as hot as at first again, and starts from the best
};

/// Simulated annealing: goes to a random neighbour if it is better, and sometimes if it is not.
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

}  // namespace tune
