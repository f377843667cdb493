#include "search/methods/design.h"

namespace tune::search {
namespace {

constexpr int kStrata = 16;
constexpr int kChoices = 8, kChoicesWithOddUse = 16;
constexpr int kSample = 256;
constexpr std::uint64_t kSampleSeed = 1;

std::size_t stratum_of(const Coordinate& place) {
  return static_cast<std::size_t>(place.position * kStrata / kPositions);
}

}  // namespace

Design::Design(const CoordinateSystem& coordinate_system, const ValidSpecs& specs, double odd_use)
    : coordinate_system_(&coordinate_system),
      odd_use_(odd_use),
      counts_(coordinate_system.axes().size(), std::vector<double>(kStrata)),
      shares_(coordinate_system.axes().size(), std::vector<double>(kStrata, 1)) {
  Random random(kSampleSeed);
  for (int i = 0; i < kSample && specs.size() > 0; ++i) {
    const std::vector<Coordinate> coordinates = coordinate_system(specs.at(specs.sample(random)));
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis) ++shares_[axis][stratum_of(coordinates[axis])];
  }
}

double Design::use(const Point& point) const {
  double sum = 0;
  const std::vector<Coordinate> coordinates = (*coordinate_system_)(point);
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
    const std::size_t stratum = stratum_of(coordinates[axis]);
    sum += counts_[axis][stratum] / shares_[axis][stratum] + odd_use_ * coordinates[axis].odd_part / kOddParts;
  }
  return sum;
}

std::optional<Point> Design::draw(Untried& untried, Random& random) {
  std::optional<Point> chosen;
  double least = 0;
  const int choices = odd_use_ > 0 ? kChoicesWithOddUse : kChoices;
  for (int choice = 0; choice < choices; ++choice) {
    const auto index = untried.glance(random);
    if (!index) break;
    Point point = untried.specs().at(*index);
    const double used = use(point);
    if (chosen && used >= least) continue;
    least = used;
    chosen = std::move(point);
  }
  if (chosen)
    untried.take(*chosen);
  else
    chosen = untried.draw(random);
  if (!chosen) return chosen;
  const std::vector<Coordinate> coordinates = (*coordinate_system_)(*chosen);
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) ++counts_[axis][stratum_of(coordinates[axis])];
  return chosen;
}

}  // namespace tune::search
