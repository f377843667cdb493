#include "model/constraints/spec_sample.h"

#include <algorithm>
#include <limits>

#include "model/constraints/diagram_product.h"
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

bool is_valid(const Space& space, const Space::Point& point) {
  const Spec spec = space.spec(point);
  return std::holds_alternative<Spec>(spec.mesh_idx >= 0 ? space.at(spec.mesh_idx) : space.at(spec.params));
}

}  // namespace

std::vector<Space::Point> sample_points(const Space& space, const std::vector<Restriction>& restrictions,
                                        std::size_t wanted) {
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
  std::vector<Space::Point> found;
  Random random(1);
  for (int draw = 0; draw < kDraws && found.size() < wanted && !parts.empty(); ++draw) {
    const auto index = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(total)));
    const Part& part = *std::ranges::upper_bound(parts, index, {}, &Part::end);
    Space::Point point{part.mapping, {}};
    point.digits.resize(space.mappings()[part.mapping].parameters.size());
    part.points.at(part.points.size() - (part.end - index), point.digits);
    if (is_valid(space, point)) found.push_back(std::move(point));
  }
  return found;
}

}  // namespace tune
