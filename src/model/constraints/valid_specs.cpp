#include "model/constraints/valid_specs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "model/diagrams/diagram_product.h"

namespace tune {
namespace {

/// A space can be large without the constraints that keep it small; then a constraint is kept without proof.
constexpr std::size_t kMostEdges = 2'000'000;
/// For all combinations of constraints together.
constexpr std::int64_t kBudget = std::int64_t{1} << 29;

enum class Left { none, some, unknown };

Left left_by(const Space& space, const Space::Mapping& mapping, const Domains& domains, const std::vector<char>& used) {
  const auto budget = kBudget / static_cast<std::int64_t>(used.size() + 1);
  const DecisionDiagram::Limits limits = {.edges = kMostEdges, .budget = {budget}};
  try {
    return DiagramProduct(space, mapping, domains, &used, {.diagram = limits, .tables = {}}).size() == 0 ? Left::none
                                                                                                         : Left::some;
  } catch (const DiagramProduct::TooLarge&) {
    return Left::unknown;
  }
}

}  // namespace

struct ValidSpecs::Set {
  virtual ~Set() = default;
  virtual std::int64_t size() const = 0;
  virtual Natural exact_size() const { return Natural(size()); }
  virtual Point at(std::int64_t index) const = 0;
  virtual std::optional<std::int64_t> index_of(const Point& point) const = 0;
};

/// Points in mesh order.
struct ValidSpecs::Listed : Set {
  explicit Listed(std::vector<Point> list) : points(std::move(list)) {
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(points.size()); }
  Point at(std::int64_t index) const override { return points[static_cast<std::size_t>(index)]; }
  std::optional<std::int64_t> index_of(const Point& point) const override {
    const auto found = std::lower_bound(points.begin(), points.end(), point);
    if (found == points.end() || *found != point) return std::nullopt;
    return found - points.begin();
  }
  std::vector<Point> points;
};

/// One mapping after the other.
struct ValidSpecs::Union : Set {
  struct Part {
    std::uint32_t mapping;
    std::size_t parameters;
    std::int64_t first;  ///< index of its first point
    DiagramProduct points;
  };

  Union(const Space& space, const std::vector<Restriction>& restrictions) {
    for (std::uint32_t i = 0; i < space.mappings().size(); ++i) {
      const Space::Mapping& mapping = space.mappings()[i];
      if (!has_names(mapping, restrictions)) continue;
      DiagramProduct points(space, mapping, domains_of(mapping, restrictions));
      if (points.size() == 0) continue;
      parts.push_back({i, mapping.parameters.size(), total, std::move(points)});
      if (__builtin_add_overflow(total, parts.back().points.size(), &total))
        total = std::numeric_limits<std::int64_t>::max();
    }
  }
  std::int64_t size() const override { return total; }
  Natural exact_size() const override {
    Natural size;
    for (const Part& part : parts) size += part.points.exact_size();
    return size;
  }
  Point at(std::int64_t index) const override {
    const auto after = [](std::int64_t i, const Part& part) { return i < part.first; };
    const Part& part = *(std::upper_bound(parts.begin(), parts.end(), index, after) - 1);
    Point point{part.mapping, std::vector<std::uint32_t>(part.parameters)};
    part.points.at(index - part.first, point.digits);
    return point;
  }
  std::optional<std::int64_t> index_of(const Point& point) const override {
    for (const Part& part : parts) {
      if (part.mapping != point.mapping) continue;
      const auto within = part.points.index_of(point.digits);
      return within ? std::optional(part.first + *within) : std::nullopt;
    }
    return std::nullopt;
  }
  std::vector<Part> parts;
  std::int64_t total = 0;
};

TooEntangled::TooEntangled(const std::vector<std::string>& parameters)
    : Error(ExitCode::bad_input,
            fmt::format(
                "the constraints entangle {} parameters so much that their valid combinations cannot be counted ({})",
                parameters.size(), fmt::join(parameters, ", "))) {}

ValidSpecs::ValidSpecs(const Space& space, const std::vector<Restriction>& restrictions) : space_(&space) {
  try {
    set_ = std::make_shared<Union>(space, restrictions);
  } catch (const DiagramProduct::TooLarge& large) {
    throw TooEntangled(large.parameters);
  }
}

ValidSpecs::ValidSpecs(const Space& space, std::vector<Point> points)
    : space_(&space), set_(std::make_shared<Listed>(std::move(points))) {}

std::int64_t ValidSpecs::size() const { return set_->size(); }
Natural ValidSpecs::exact_size() const { return set_->exact_size(); }

ValidSpecs::Point ValidSpecs::at(std::int64_t index) const {
  assert(index >= 0 && index < size());
  return set_->at(index);
}

std::optional<std::int64_t> ValidSpecs::index_of(const Point& point) const { return set_->index_of(point); }

std::int64_t ValidSpecs::sample(Random& random) const {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size())));
}

std::vector<Contradiction> contradictions(const Space& space, const std::vector<Restriction>& restrictions) {
  std::vector<Contradiction> found;
  for (const Space::Mapping& mapping : space.mappings()) {
    if (!has_names(mapping, restrictions)) continue;
    const Domains domains = domains_of(mapping, restrictions);
    std::vector<char> used(mapping.derived.size() + mapping.constraints.size(), 1);
    if (left_by(space, mapping, domains, used) != Left::none) continue;
    Contradiction contradiction;
    for (char& one : used) {
      one = 0;
      const Left left = left_by(space, mapping, domains, used);
      one = left == Left::none ? 0 : 1;
      contradiction.minimal = contradiction.minimal && left != Left::unknown;
    }
    for (std::size_t i = 0; i < mapping.derived.size(); ++i)
      if (used[i]) contradiction.derived.push_back(&mapping.derived[i]);
    for (std::size_t i = 0; i < mapping.constraints.size(); ++i)
      if (used[mapping.derived.size() + i]) contradiction.constraints.push_back(&mapping.constraints[i]);
    found.push_back(std::move(contradiction));
  }
  return found;
}

}  // namespace tune
