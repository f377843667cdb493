#include "model/valid_specs.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tune {
namespace {

double number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  const auto* real = std::get_if<double>(&value);
  return real ? *real : 0;
}

/// The indices of a parameter's values, in the order in which steps go up and down.
std::vector<std::uint32_t> ladder(const Parameter& parameter, ValidSpecs::Neighbourhood neighbourhood) {
  std::vector<std::uint32_t> order(parameter.values.size());
  std::iota(order.begin(), order.end(), 0U);
  const bool numeric = parameter.kind == Kind::interval || parameter.kind == Kind::ratio;
  if (neighbourhood != ValidSpecs::Neighbourhood::kind || !numeric) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return number_of(parameter.values[a]) < number_of(parameter.values[b]);
  });
  return order;
}

bool takes_all(const Parameter& parameter, ValidSpecs::Neighbourhood neighbourhood) {
  return neighbourhood == ValidSpecs::Neighbourhood::hamming ||
         (neighbourhood == ValidSpecs::Neighbourhood::kind && parameter.kind == Kind::categorical);
}

bool passes(const Spec& spec, const std::vector<Restriction>& restrictions) {
  return std::ranges::all_of(restrictions, [&](const Restriction& restriction) {
    const Value* const value = spec.find(restriction.name);
    return value && restriction.admits(*value);
  });
}

}  // namespace

/// Points in mesh order.
struct ValidSpecs::Set {
  std::vector<Point> points;
};

ValidSpecs::ValidSpecs(const Space& space, const std::vector<Restriction>& restrictions) : space_(&space) {
  auto set = std::make_unique<Set>();
  Walk walk(space);
  while (const auto spec = walk.next())
    if (passes(*spec, restrictions)) set->points.push_back(*space.point(*spec));
  set_ = std::move(set);
}

ValidSpecs::ValidSpecs(const Space& space, std::vector<Point> points) : space_(&space) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  set_ = std::make_unique<Set>(Set{std::move(points)});
}

ValidSpecs::~ValidSpecs() = default;
ValidSpecs::ValidSpecs(ValidSpecs&&) noexcept = default;
ValidSpecs& ValidSpecs::operator=(ValidSpecs&&) noexcept = default;

std::int64_t ValidSpecs::size() const { return static_cast<std::int64_t>(set_->points.size()); }

ValidSpecs::Point ValidSpecs::at(std::int64_t index) const {
  assert(index >= 0 && index < size());
  return set_->points[static_cast<std::size_t>(index)];
}

std::optional<std::int64_t> ValidSpecs::index_of(const Point& point) const {
  const auto found = std::lower_bound(set_->points.begin(), set_->points.end(), point);
  if (found == set_->points.end() || *found != point) return std::nullopt;
  return found - set_->points.begin();
}

std::int64_t ValidSpecs::sample(Random& random) const {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size())));
}

std::vector<ValidSpecs::Point> ValidSpecs::neighbours(const Point& point, Neighbourhood neighbourhood) const {
  std::vector<Point> found;
  const std::vector<Parameter>& parameters = space_->mappings()[point.mapping].parameters;
  Point other = point;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::vector<std::uint32_t> order = ladder(parameters[i], neighbourhood);
    const auto here = std::find(order.begin(), order.end(), point.digits[i]);
    const auto try_value = [&](std::uint32_t digit) {
      other.digits[i] = digit;
      const bool valid = contains(other);
      if (valid) found.push_back(other);
      return valid && !takes_all(parameters[i], neighbourhood);
    };
    for (auto below = here; below != order.begin();)
      if (try_value(*--below)) break;
    for (auto above = here + 1; above != order.end(); ++above)
      if (try_value(*above)) break;
    other.digits[i] = point.digits[i];
  }
  return found;
}

}  // namespace tune
