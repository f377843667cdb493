#include <algorithm>
#include <cmath>

#include "search/methods/methods.h"
#include "search/methods/portable_math.h"
#include "search/methods/step_search.h"

namespace tune::search {
namespace {

constexpr int kMostVariants = 30;

/// Differential evolution on the ranks of values: each member competes with a variant of itself, which is moved towards
/// the best member and by a weighted difference of two others. The better of the two stays.
class DifferentialEvolution : public StepSearch {
 public:
  DifferentialEvolution(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed)
      : StepSearch(specs, seed),
        population_(choice.whole("population")),
        weight_(choice.option("weight")),
        crossover_(choice.option("crossover")),
        greed_(choice.option("greed")) {}

  std::optional<Point> ask() override {
    if (members_.size() < static_cast<std::size_t>(population_)) return draw();
    const std::size_t member = next_++ % members_.size();
    for (int attempt = 0; attempt < kMostVariants; ++attempt) {
      // A population that has converged has no differences left; random steps keep it moving.
      Point point = moves_.mutated(variant(member), attempt / 3, random_);
      if (!untried_.take(point)) continue;
      challenges_.push_back({point, member});
      return point;
    }
    return draw();
  }

  void tell(const Point& point, std::optional<double> cost) override {
    const auto challenge = std::ranges::find(challenges_, point, &Challenge::point);
    if (challenge == challenges_.end()) {
      if (cost) members_.push_back({point, *cost});
      return;
    }
    Visited& member = members_[challenge->member];
    if (cost && *cost < member.cost) member = {point, *cost};
    challenges_.erase(challenge);
  }

 private:
  struct Challenge {
    Point point;
    std::size_t member;
  };

  const Visited& best() const { return *std::ranges::min_element(members_, {}, &Visited::cost); }

  Point variant(std::size_t member) {
    Point point = members_[member].point;
    const Point& leader = best().point;
    const Point& plus = members_[random_.below(members_.size())].point;
    const Point& minus = members_[random_.below(members_.size())].point;
    if (leader.mapping != point.mapping || plus.mapping != point.mapping || minus.mapping != point.mapping)
      return leader;
    for (std::size_t i = 0; i < point.digits.size(); ++i) {
      if (!chance(random_, crossover_)) continue;
      const auto rank = [&](const Point& p) { return static_cast<double>(moves_.rank(p, i)); };
      const double moved = rank(point) + greed_ * (rank(leader) - rank(point)) + weight_ * (rank(plus) - rank(minus));
      moves_.set_rank(point, i, std::floor(moved + 0.5));
    }
    return point;
  }

  int population_;
  double weight_;     ///< of the difference of two members
  double crossover_;  ///< share of the values taken from the variant
  double greed_;      ///< how far the variant is moved towards the best member
  std::vector<Visited> members_;
  std::vector<Challenge> challenges_;  ///< asked for and not told yet
  std::size_t next_ = 0;
};

}  // namespace

Method differential_evolution_method() {
  return {{"differential_evolution",
           {whole("population", 20, 2), real("weight", 0.7), real("crossover", 0.6), real("greed", 0.8)}},
          make<DifferentialEvolution>};
}

}  // namespace tune::search
