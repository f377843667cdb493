#include "search/methods/neighbours.h"

#include <algorithm>
#include <numeric>

namespace tune::search {
namespace {

constexpr std::size_t kShort = 32;

bool are_numbers(const std::vector<Value>& values) {
  return std::ranges::all_of(values, [](const Value& value) { return number_of(value).has_value(); });
}

// By number where all values have one, else as written.
std::vector<std::uint32_t> ordered(const std::vector<Value>& values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  if (are_numbers(values)) std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return *number_of(values[i]); });
  return order;
}

std::vector<std::int64_t> offsets(Kind kind, std::int64_t below, std::int64_t above) {
  if (kind == Kind::ordinal) return {-1, 1, -2, 2};
  std::vector<std::int64_t> halves;
  for (; below > 0; below /= 2) halves.push_back(-below);
  for (; above > 0; above /= 2) halves.push_back(above);
  return halves;
}

/// To the next values, and to those that are nearest to these multiples of the one at `here`.
std::vector<std::int64_t> ratio_offsets(const std::vector<double>& numbers, std::int64_t here) {
  std::vector<std::int64_t> found = {-1, 1};
  for (const double factor : {0.25, 0.5, 0.7, 1.4, 2.0, 4.0}) {
    const double wanted = factor * numbers[static_cast<std::size_t>(here)];
    auto nearest = std::ranges::lower_bound(numbers, wanted);
    if (nearest == numbers.end() || (nearest != numbers.begin() && wanted - nearest[-1] < *nearest - wanted)) --nearest;
    const std::int64_t offset = nearest - numbers.begin() - here;
    if (offset != 0 && std::ranges::find(found, offset) == found.end()) found.push_back(offset);
  }
  return found;
}

}  // namespace

Neighbours::Neighbours(const ValidSpecs& specs) : specs_(&specs) {
  for (const Space::Mapping& mapping : specs.space().mappings()) {
    auto& ladders = ladders_.emplace_back();
    auto& movable = movable_.emplace_back();
    for (const Parameter& parameter : mapping.parameters) {
      if (parameter.values.size() > 1) movable.push_back(ladders.size());
      Ladder& ladder = ladders.emplace_back();
      ladder.kind = parameter.kind;
      ladder.order = ordered(parameter.values);
      ladder.rank.resize(ladder.order.size());
      for (std::uint32_t rank = 0; rank < ladder.order.size(); ++rank) ladder.rank[ladder.order[rank]] = rank;
      if (ladder.kind != Kind::ratio || ladder.order.size() <= kShort || !are_numbers(parameter.values)) continue;
      for (const std::uint32_t index : ladder.order) ladder.numbers.push_back(*number_of(parameter.values[index]));
    }
  }
}

std::vector<std::uint32_t> Neighbours::steps_from(const Ladder& ladder, std::uint32_t digit) const {
  std::vector<std::uint32_t> digits;
  if (ladder.kind == Kind::categorical || ladder.order.size() <= kShort) {
    for (std::uint32_t other = 0; other < ladder.order.size(); ++other)
      if (other != digit) digits.push_back(other);
    return digits;
  }
  const std::int64_t here = ladder.rank[digit];
  const auto last = static_cast<std::int64_t>(ladder.order.size()) - 1;
  const auto steps =
      ladder.numbers.empty() ? offsets(ladder.kind, here, last - here) : ratio_offsets(ladder.numbers, here);
  for (const std::int64_t offset : steps)
    if (here + offset >= 0 && here + offset <= last)
      digits.push_back(ladder.order[static_cast<std::size_t>(here + offset)]);
  return digits;
}

std::vector<Point> Neighbours::around(const Point& point) const {
  std::vector<Point> found;
  Point other = point;
  for (const std::size_t i : movable_[point.mapping]) {
    for (const std::uint32_t digit : steps_from(ladders_[point.mapping][i], point.digits[i])) {
      other.digits[i] = digit;
      if (specs_->contains(other)) found.push_back(other);
    }
    other.digits[i] = point.digits[i];
  }
  return found;
}

Point Neighbours::mutated(Point point, int steps, Random& random) const {
  const auto& movable = movable_[point.mapping];
  for (int step = 0; step < steps && !movable.empty(); ++step) {
    const std::size_t i = movable[random.below(movable.size())];
    const auto digits = steps_from(ladders_[point.mapping][i], point.digits[i]);
    point.digits[i] = digits[random.below(digits.size())];
  }
  return point;
}

}  // namespace tune::search
