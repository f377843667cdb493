#include "model/constraints/valid_specs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "model/diagrams/diagram_product.h"

namespace tune {

struct ValidSpecs::Set {
  virtual ~Set() = default;
  virtual std::int64_t size() const = 0;
  virtual std::string size_text() const { return std::to_string(size()); }
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
  std::string size_text() const override {
    Natural size;
    for (const Part& part : parts) size += part.points.exact_size();
    return size.text();
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
std::string ValidSpecs::size_text() const { return set_->size_text(); }

ValidSpecs::Point ValidSpecs::at(std::int64_t index) const {
  assert(index >= 0 && index < size());
  return set_->at(index);
}

std::optional<std::int64_t> ValidSpecs::index_of(const Point& point) const { return set_->index_of(point); }

std::int64_t ValidSpecs::sample(Random& random) const {
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size())));
}

}  // namespace tune
