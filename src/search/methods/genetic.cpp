#include "search/methods/genetic.h"

#include <algorithm>

#include "search/methods/portable_math.h"

namespace tune::search {
namespace {

constexpr int kMostChildren = 40;

}  // namespace

Genetic::Genetic(const ValidSpecs& specs, std::uint64_t seed, GeneticOptions options)
    : StepSearch(specs, seed), options_(options) {}

std::optional<Point> Genetic::ask() {
  if (++asked_ > options_.population && members_.size() >= 2) {
    for (int attempt = 0; attempt < kMostChildren; ++attempt) {
      Point point = child();
      if (untried_.take(point)) return point;
    }
  }
  return draw();
}

const Visited& Genetic::parent() {
  std::size_t best = members_.size();
  for (int i = 0; i < options_.tournament; ++i) best = std::min(best, random_.below(members_.size()));
  return members_[best];
}

Point Genetic::child() {
  Point point = parent().point;
  const Point& other = parent().point;
  if (other.mapping == point.mapping)
    for (std::size_t i = 0; i < point.digits.size(); ++i)
      if (chance(random_, 0.5)) point.digits[i] = other.digits[i];
  int steps = 0;
  const double stop = 1 / (1 + options_.mutation);
  while (!chance(random_, stop)) ++steps;
  return moves_.mutated(std::move(point), steps, random_);
}

void Genetic::tell(const Point& point, std::optional<double> cost) {
  if (!cost) return;
  const auto place = std::ranges::upper_bound(members_, *cost, {}, &Visited::cost);
  members_.insert(place, {point, *cost});
  if (members_.size() > static_cast<std::size_t>(options_.population)) members_.pop_back();
}

}  // namespace tune::search
