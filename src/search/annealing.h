#pragma once
#include "search/design.h"
#include "search/moves.h"

namespace tune {

struct AnnealingOptions {
  int starts = 10;         ///< points spread over the space first
  double heat = 0.1;       ///< at first a point worse by this share is taken in one case of e
  double cooling = 0.97;   ///< heat is multiplied by it after every point
  double coldest = 0.005;  ///< below it, it is as hot as at first again, and starts from the best
};

/// Simulated annealing: goes to a random neighbour if it is better, and sometimes if it is not.
class Annealing : public Search {
 public:
  /// `specs` must outlive this.
  Annealing(const ValidSpecs& specs, std::uint64_t seed, AnnealingOptions options);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override { return untried_.take(point); }
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  struct Place {
    Point point;
    double cost = 0;
  };
  bool accepts(double cost);
  void cool();

  AnnealingOptions options_;
  Random random_;
  Untried untried_;
  Coordinates coordinates_;
  Design design_;
  Moves moves_;
  int asked_ = 0;
  double heat_;
  std::optional<Place> here_, best_;
};

}  // namespace tune
