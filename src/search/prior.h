#pragma once
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/coordinates.h"
#include "search/search.h"

namespace tune::search {

/// What a point will cost by a model that has measured nothing, in any unit; nullopt: the model cannot tell.
using Predict = std::function<std::optional<double>(const Point&)>;

/// The points of a set in the order in which a model expects them to be good. In a set of more than 200,000 points it
/// looks at 20,000 random ones and at the neighbours of the best of these.
class Prior {
 public:
  struct Ranked {
    std::int64_t index;  ///< in the set
    double log_cost;
  };

  /// `specs` must outlive this.
  Prior(const ValidSpecs& specs, Predict predict);

  const ValidSpecs& specs() const { return *specs_; }
  /// The best ones, best first: at most 4,096. Empty: the model can tell nothing.
  std::span<const Ranked> ranked() const { return ranked_; }
  std::optional<double> log_cost(const Point& point) const;
  /// Where the point's cost lies between the best and 16 times that, or more, which counts as 16.
  Coordinate coordinate(const Point& point) const;

 private:
  void rank(std::int64_t index);
  void rank_sample();

  const ValidSpecs* specs_;
  Predict predict_;
  std::vector<Ranked> ranked_;
  mutable std::unordered_map<std::int64_t, std::optional<double>> known_;
};

}  // namespace tune::search
