#include "search/methods/differential_evolution.h"

#include <algorithm>
#include <cmath>

#include "search/methods/portable_math.h"

namespace tune::search {
namespace {

constexpr int kMostVariants = 30;

}  // namespace

DifferentialEvolution::DifferentialEvolution(const ValidSpecs& specs, std::uint64_t seed,
                                             DifferentialEvolutionOptions options)
    : StepSearch(specs, seed), options_(options) {}

std::optional<Point> DifferentialEvolution::ask() {
  if (members_.size() < static_cast<std::size_t>(options_.population)) return draw();
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

const Visited& DifferentialEvolution::best() const { return *std::ranges::min_element(members_, {}, &Visited::cost); }

Point DifferentialEvolution::variant(std::size_t member) {
  Point point = members_[member].point;
  const Point& leader = best().point;
  const Point& plus = members_[random_.below(members_.size())].point;
  const Point& minus = members_[random_.below(members_.size())].point;
  if (leader.mapping != point.mapping || plus.mapping != point.mapping || minus.mapping != point.mapping) return leader;
  for (std::size_t i = 0; i < point.digits.size(); ++i) {
    if (!chance(random_, options_.crossover)) continue;
    const auto rank = [&](const Point& p) { return static_cast<double>(moves_.rank(p, i)); };
    const double moved =
        rank(point) + options_.greed * (rank(leader) - rank(point)) + options_.weight * (rank(plus) - rank(minus));
    moves_.set_rank(point, i, std::floor(moved + 0.5));
  }
  return point;
}

void DifferentialEvolution::tell(const Point& point, std::optional<double> cost) {
  const auto challenge = std::ranges::find(challenges_, point, &Challenge::point);
  if (challenge == challenges_.end()) {
    if (cost) members_.push_back({point, *cost});
    return;
  }
  Visited& member = members_[challenge->member];
  if (cost && *cost < member.cost) member = {point, *cost};
  challenges_.erase(challenge);
}

}  // namespace tune::search
