#include "model/constraints/spec_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/diagrams/diagram_product.h"
#include "model/values/random.h"

namespace tune {
namespace {

constexpr int kDraws = 300'000;
/// A constraint that takes more than this is left to the draws to check.
constexpr DiagramProduct::Limits kLimits = {.diagram = {.edges = 1'000'000, .budget = {1 << 25}}, .tables = {}};

struct Part {
  std::uint32_t mapping;
  std::int64_t end;  ///< index after its last point
  DiagramProduct points;
};

/// The points that meet as many constraints as can be solved together; constraints are tried in their order.
DiagramProduct relaxed(const Space& space, const Space::Mapping& mapping, const Domains& domains) {
  std::vector<char> used(mapping.derived.size() + mapping.constraints.size(), 0);
  DiagramProduct solved(space, mapping, domains, &used, kLimits);
  for (char& one : used) {
    one = 1;
    try {
      solved = DiagramProduct(space, mapping, domains, &used, kLimits);
    } catch (const DiagramProduct::TooLarge&) {
      one = 0;
    }
  }
  return solved;
}

struct Share {
  double least, most;
};

/// Wilson's 95 % interval of the probability of what was seen so often in so many draws.
Share share_of(std::size_t seen, int draws) {
  constexpr double kSquare = 1.96 * 1.96;
  const auto n = static_cast<double>(draws), k = static_cast<double>(seen);
  const double middle = (k + kSquare / 2) / (n + kSquare);
  const double half = std::sqrt(kSquare * (k * (n - k) / n + kSquare / 4)) / (n + kSquare);
  return {seen == 0 ? 0 : middle - half, std::min(middle + half, 1.0)};
}

bool is_valid(const Space& space, const Space::Point& point) {
  const Spec spec = space.spec(point);
  return std::holds_alternative<Spec>(spec.mesh_idx >= 0 ? space.at(spec.mesh_idx) : space.at(spec.params));
}

}  // namespace

std::string SpecSample::count_text() const {
  const auto unit = [](double count) { return count < 1000 ? 1 : std::pow(10, std::floor(std::log10(count)) - 2); };
  return fmt::format("{:.0f} to {:.0f} (95 % confidence)", std::floor(least / unit(least)) * unit(least),
                     std::ceil(most / unit(most)) * unit(most));
}

SpecSample sample_specs(const Space& space, const std::vector<Restriction>& restrictions, std::size_t most) {
  std::vector<Part> parts;
  std::int64_t total = 0;
  for (std::uint32_t i = 0; i < space.mappings().size(); ++i) {
    const Space::Mapping& mapping = space.mappings()[i];
    if (!has_names(mapping, restrictions)) continue;
    DiagramProduct points = relaxed(space, mapping, domains_of(mapping, restrictions));
    if (points.size() == 0) continue;
    if (__builtin_add_overflow(total, points.size(), &total)) total = std::numeric_limits<std::int64_t>::max();
    parts.push_back({i, total, std::move(points)});
  }
  if (parts.empty()) return {};
  std::vector<Space::Point> found;
  Random random(1);
  int draws = 0;
  for (; draws < kDraws && found.size() < most; ++draws) {
    const auto index = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(total)));
    const Part& part = *std::ranges::upper_bound(parts, index, {}, &Part::end);
    Space::Point point{part.mapping, {}};
    point.digits.resize(space.mappings()[part.mapping].parameters.size());
    part.points.at(part.points.size() - (part.end - index), point.digits);
    if (is_valid(space, point)) found.push_back(std::move(point));
  }
  const Share share = share_of(found.size(), draws);
  return {std::move(found), share.least * static_cast<double>(total), share.most * static_cast<double>(total)};
}

}  // namespace tune
