#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "search/search.h"

namespace tune {

/// Which points of a set have not been handed out yet. Memory grows with what was handed out, not with the set.
class Untried {
 public:
  /// `specs` must outlive this.
  explicit Untried(const ValidSpecs& specs) : specs_(&specs), undrawn_(specs.size()) {}

  const ValidSpecs& specs() const { return *specs_; }
  bool empty() const { return static_cast<std::int64_t>(taken_.size()) == specs_->size(); }
  /// Whether the point is valid and was not taken.
  bool has(const Point& point) const { return find(point).has_value(); }
  bool is_taken(std::int64_t index) const { return taken_.contains(index); }
  /// The index of a point that has() holds for.
  std::optional<std::int64_t> find(const Point& point) const;
  /// Takes the point if has() it.
  bool take(const Point& point);
  /// Takes a uniformly random one; nullopt: there is none.
  std::optional<Point> draw(Random& random);
  /// The index of a uniformly random one, which stays; nullopt: a few attempts met only taken ones.
  std::optional<std::int64_t> glance(Random& random) const;

 private:
  std::int64_t undrawn_index(std::int64_t position) const;

  const ValidSpecs* specs_;
  std::unordered_set<std::int64_t> taken_;
  /// Positions below undrawn_ hold a permutation's rest: the index of the same number, or the one noted here.
  std::unordered_map<std::int64_t, std::int64_t> moved_;
  std::int64_t undrawn_;
};

}  // namespace tune
