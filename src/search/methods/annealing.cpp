#include <cmath>

#include "search/methods/methods.h"
#include "search/methods/portable_math.h"
#include "search/methods/step_search.h"

namespace tune::search {
namespace {

constexpr int kMostMoves = 30;

/// Simulated annealing: moves to a random neighbour if it is better, and sometimes if it is worse.
class Annealing : public StepSearch {
 public:
  Annealing(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed)
      : StepSearch(specs, seed),
        starts_(choice.whole("starts")),
        first_heat_(choice.option("heat")),
        cooling_(choice.option("cooling")),
        coldest_(choice.option("coldest")),
        heat_(first_heat_) {}

  std::optional<Point> ask() override {
    if (++asked_ > starts_ && here_) {
      for (int attempt = 0; attempt < kMostMoves; ++attempt) {
        // The more neighbours were tried already, the further away the next point is taken.
        Point point = moves_.mutated(here_->point, 1 + attempt / 10, random_);
        if (untried_.take(point)) return point;
      }
    }
    return draw();
  }

  void tell(const Point& point, std::optional<double> cost) override {
    if (asked_ > starts_) cool();
    if (!cost) return;
    if (!best_ || *cost < best_->cost) best_ = {point, *cost};
    if (!here_ || accepts(*cost)) here_ = {point, *cost};
  }

 private:
  bool accepts(double cost) {
    if (cost <= here_->cost) return true;
    if (asked_ <= starts_) return false;
    const double worse = (cost - here_->cost) / std::fabs(here_->cost);
    return chance(random_, exponential(-worse / heat_));
  }

  void cool() {
    heat_ *= cooling_;
    if (heat_ >= coldest_) return;
    heat_ = first_heat_;
    here_ = best_;
  }

  int starts_;         ///< the number of points spread over the space first
  double first_heat_;  ///< at first, a point whose cost is higher by this fraction is accepted with probability 1/e
  double cooling_;     ///< the heat is multiplied by this factor after every point
  double coldest_;     ///< below this heat, the search restarts from the best point with the first heat
  double heat_;
  int asked_ = 0;
  std::optional<Visited> here_, best_;
};

}  // namespace

Method annealing_method() {
  return {{"annealing", {whole("starts", 10), real("heat", 0.1), real("cooling", 0.97), real("coldest", 0.005)}},
          make<Annealing>};
}

}  // namespace tune::search
