#include "search/coordinates.h"

#include <algorithm>
#include <optional>

#include "search/methods/portable_math.h"
#include "search/prior.h"

namespace tune::search {
namespace {

/// All values that parameters of one name have in any mapping.
struct Scale {
  std::string name;
  Kind kind = Kind::ordinal;
  std::vector<Value> values;
};

bool numeric(const std::vector<Value>& values) {
  return std::ranges::all_of(values, [](const Value& value) { return number_of(value).has_value(); });
}

bool is_sorted(const Scale& scale) { return scale.kind != Kind::categorical && numeric(scale.values); }

std::vector<Scale> scales_of(const Space& space) {
  std::vector<Scale> scales;
  for (const Space::Mapping& mapping : space.mappings())
    for (const Parameter& parameter : mapping.parameters) {
      auto scale = std::ranges::find(scales, parameter.name, &Scale::name);
      if (scale == scales.end()) {
        scales.push_back({parameter.name, parameter.kind, parameter.values});
        continue;
      }
      for (const Value& value : parameter.values)
        if (std::ranges::find(scale->values, value) == scale->values.end()) scale->values.push_back(value);
    }
  for (Scale& scale : scales)
    if (is_sorted(scale))
      std::ranges::stable_sort(scale.values, {}, [](const Value& value) { return *number_of(value); });
  return scales;
}

// The distance of a value along its axis, in an arbitrary unit.
double distance_along(const Scale& scale, std::size_t rank) {
  const auto number = number_of(scale.values[rank]);
  const auto first = number_of(scale.values.front());
  if (scale.kind == Kind::interval && number) return *number;
  if (scale.kind == Kind::ratio && number && first && *first > 0) return natural_log(*number);
  return static_cast<double>(rank);
}

std::uint8_t factors_of_two_in(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr || *integer == 0) return 0;
  std::uint8_t factors_of_two = 0;
  for (std::int64_t rest = *integer; rest % 2 == 0 && factors_of_two < kFactorsOfTwo - 1; rest /= 2) ++factors_of_two;
  return factors_of_two;
}

std::uint8_t odd_part_of(const Scale& scale, const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr || *integer <= 0 || scale.kind == Kind::categorical) return 0;
  std::int64_t odd = *integer;
  while (odd % 2 == 0) odd /= 2;
  const double octaves = natural_log(static_cast<double>(odd)) / natural_log(2);
  return static_cast<std::uint8_t>(std::min(octaves * kOddParts + 0.5, kMostOddPart));
}

/// `sorted` is the result of is_sorted(), which is expensive to compute.
std::size_t rank_of(const Scale& scale, bool sorted, const Value& value) {
  auto from = scale.values.begin();
  if (sorted)
    from = std::ranges::lower_bound(scale.values, *number_of(value), {}, [](const Value& v) { return *number_of(v); });
  return static_cast<std::size_t>(std::find(from, scale.values.end(), value) - scale.values.begin());
}

Coordinate coordinate_of(const Scale& scale, std::size_t rank) {
  const double first = distance_along(scale, 0), last = distance_along(scale, scale.values.size() - 1);
  // Two values that round to the same position are equal to a model, but the search still tells them apart.
  const double along = (distance_along(scale, rank) - first) / (last - first);
  const Value& value = scale.values[rank];
  return {static_cast<std::uint16_t>(along * (kPositions - 1) + 0.5), factors_of_two_in(value),
          odd_part_of(scale, value)};
}

bool is_power_of_two(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr && *integer > 0 && (*integer & (*integer - 1)) == 0;
}

bool by_factors_of_two(const Scale& scale) {
  if (scale.kind == Kind::categorical || scale.values.size() < 3) return false;
  if (std::ranges::all_of(scale.values, is_power_of_two)) return false;
  return std::ranges::any_of(scale.values, [&](const Value& value) {
    return factors_of_two_in(value) != factors_of_two_in(scale.values.front());
  });
}

}  // namespace

CoordinateSystem::CoordinateSystem(const Space& space, const Prior* prior) : prior_(prior) {
  const std::vector<Scale> scales = scales_of(space);
  std::vector<std::optional<std::size_t>> axis_of(scales.size());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i].values.size() < 2) continue;
    axis_of[i] = axes_.size();
    axes_.push_back({scales[i].name, scales[i].kind == Kind::categorical, by_factors_of_two(scales[i])});
  }
  if (prior_ != nullptr) axes_.push_back({"(predicted cost)", false, false});
  for (const Space::Mapping& mapping : space.mappings()) {
    auto& columns = columns_.emplace_back();
    for (const Parameter& parameter : mapping.parameters) {
      const auto scale = std::ranges::find(scales, parameter.name, &Scale::name);
      Column& column = columns.emplace_back();
      const auto axis = axis_of[static_cast<std::size_t>(scale - scales.begin())];
      if (!axis) continue;
      column.axis = *axis;
      const bool sorted = is_sorted(*scale);
      for (const Value& value : parameter.values)
        column.coordinates.push_back(coordinate_of(*scale, rank_of(*scale, sorted, value)));
    }
  }
}

std::vector<Coordinate> CoordinateSystem::operator()(const Space::Point& point) const {
  std::vector<Coordinate> coordinates(axes_.size());
  if (prior_ != nullptr) coordinates.back() = prior_->coordinate(point);
  const auto& columns = columns_[point.mapping];
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!columns[i].coordinates.empty()) coordinates[columns[i].axis] = columns[i].coordinates[point.digits[i]];
  return coordinates;
}

}  // namespace tune::search
