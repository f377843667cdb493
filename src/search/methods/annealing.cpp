#include "search/methods/annealing.h"

#include <cmath>

#include "search/methods/portable_math.h"

namespace tune::search {
namespace {

constexpr int kMostMoves = 30;

}  // namespace

Annealing::Annealing(const ValidSpecs& specs, std::uint64_t seed, AnnealingOptions options)
    : StepSearch(specs, seed), options_(options), heat_(options.heat) {}

std::optional<Point> Annealing::ask() {
  if (++asked_ > options_.starts && here_) {
    for (int attempt = 0; attempt < kMostMoves; ++attempt) {
      // The more neighbours were tried already, the further away the next point is taken.
      Point point = moves_.mutated(here_->point, 1 + attempt / 10, random_);
      if (untried_.take(point)) return point;
    }
  }
  return draw();
}

void Annealing::tell(const Point& point, std::optional<double> cost) {
  if (asked_ > options_.starts) cool();
  if (!cost) return;
  if (!best_ || *cost < best_->cost) best_ = {point, *cost};
  if (!here_ || accepts(*cost)) here_ = {point, *cost};
}

bool Annealing::accepts(double cost) {
  if (cost <= here_->cost) return true;
  if (asked_ <= options_.starts) return false;
  const double worse = (cost - here_->cost) / std::fabs(here_->cost);
  return chance(random_, exponential(-worse / heat_));
}

void Annealing::cool() {
  heat_ *= options_.cooling;
  if (heat_ >= options_.coldest) return;
  heat_ = options_.heat;
  here_ = best_;
}

}  // namespace tune::search
