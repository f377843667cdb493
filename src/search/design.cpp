#include "search/design.h"

namespace tune {
namespace {

constexpr int kStrata = 16;
constexpr int kChoices = 8;

std::size_t stratum_of(const Place& place) { return static_cast<std::size_t>(place.position * kStrata / kPositions); }

}  // namespace

Design::Design(const Coordinates& coordinates)
    : coordinates_(&coordinates), counts_(coordinates.axes().size(), std::vector<std::int64_t>(kStrata)) {}

std::int64_t Design::uses(const Point& point) const {
  std::int64_t sum = 0;
  const std::vector<Place> places = (*coordinates_)(point);
  for (std::size_t axis = 0; axis < places.size(); ++axis) sum += counts_[axis][stratum_of(places[axis])];
  return sum;
}

std::optional<Point> Design::draw(Untried& untried, Random& random) {
  std::optional<Point> chosen;
  std::int64_t fewest = 0;
  for (int choice = 0; choice < kChoices; ++choice) {
    const auto index = untried.glance(random);
    if (!index) break;
    Point point = untried.specs().at(*index);
    const std::int64_t count = uses(point);
    if (chosen && count >= fewest) continue;
    fewest = count;
    chosen = std::move(point);
  }
  if (chosen)
    untried.take(*chosen);
  else
    chosen = untried.draw(random);
  if (!chosen) return chosen;
  const std::vector<Place> places = (*coordinates_)(*chosen);
  for (std::size_t axis = 0; axis < places.size(); ++axis) ++counts_[axis][stratum_of(places[axis])];
  return chosen;
}

}  // namespace tune
