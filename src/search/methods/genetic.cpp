#include <algorithm>

#include "search/methods/methods.h"
#include "search/methods/portable_math.h"
#include "search/methods/step_search.h"

namespace tune::search {
namespace {

constexpr int kMostChildren = 40;

/// A steady-state genetic algorithm on the best points so far: a child takes each value from one of two parents and
/// then makes a few steps.
class Genetic : public StepSearch {
 public:
  Genetic(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed)
      : StepSearch(specs, seed),
        population_(choice.whole("population")),
        tournament_(choice.whole("tournament")),
        mutation_(choice.option("mutation")) {}

  std::optional<Point> ask() override {
    if (++asked_ > population_ && members_.size() >= 2) {
      for (int attempt = 0; attempt < kMostChildren; ++attempt) {
        Point point = child();
        if (untried_.take(point)) return point;
      }
    }
    return draw();
  }

  void tell(const Point& point, std::optional<double> cost) override {
    if (!cost) return;
    const auto place = std::ranges::upper_bound(members_, *cost, {}, &Visited::cost);
    members_.insert(place, {point, *cost});
    if (members_.size() > static_cast<std::size_t>(population_)) members_.pop_back();
  }

 private:
  const Visited& parent() {
    std::size_t best = members_.size();
    for (int i = 0; i < tournament_; ++i) best = std::min(best, random_.below(members_.size()));
    return members_[best];
  }

  Point child() {
    Point point = parent().point;
    const Point& other = parent().point;
    if (other.mapping == point.mapping)
      for (std::size_t i = 0; i < point.digits.size(); ++i)
        if (chance(random_, 0.5)) point.digits[i] = other.digits[i];
    int steps = 0;
    const double stop = 1 / (1 + mutation_);
    while (!chance(random_, stop)) ++steps;
    return moves_.mutated(std::move(point), steps, random_);
  }

  int population_;
  int tournament_;   ///< a parent is the best of this many random members
  double mutation_;  ///< the mean number of steps per child
  int asked_ = 0;
  std::vector<Visited> members_;  ///< best first
};

}  // namespace

Method genetic_method() {
  return {{"genetic", {whole("population", 15, 2), whole("tournament", 4), real("mutation", 1.0)}}, make<Genetic>};
}

}  // namespace tune::search
