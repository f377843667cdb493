#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "search/search.h"

namespace tune::search {

/// The points of a set that were not taken yet. Memory grows with the number of points taken, not with the set.
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
  /// Takes a uniformly random point; nullopt if there is none.
  std::optional<Point> draw(Random& random);
  /// The index of a random untried point, which is not taken; nullopt if a few attempts found only taken ones.
  std::optional<std::int64_t> glance(Random& random) const;

 private:
  std::int64_t undrawn_index(std::int64_t position) const;

  const ValidSpecs* specs_;
  std::unordered_set<std::int64_t> taken_;
  /// The rest of a permutation: each position below undrawn_ stands for the index of the same number, unless noted
  /// here.
  std::unordered_map<std::int64_t, std::int64_t> moved_;
  std::int64_t undrawn_;
};

}  // namespace tune::search
