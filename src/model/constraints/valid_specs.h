#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/constraints/restriction.h"
#include "model/space.h"
#include "model/values/error.h"
#include "model/values/random.h"

namespace tune {

/// The constraints entangle so many parameters that their valid combinations cannot be counted. There may be a sample.
struct TooEntangled : Error {
  explicit TooEntangled(const std::vector<std::string>& parameters);
  std::string cause;  ///< without what to do
};

/// The valid specs of a space: how many, which, and who is next to whom. Knows nothing of measurements.
class ValidSpecs {
 public:
  using Point = Space::Point;

  /// `space` must outlive this. Throws TooEntangled.
  explicit ValidSpecs(const Space& space, const std::vector<Restriction>& restrictions = {});
  /// Exactly these points (of a recording, say), each once.
  ValidSpecs(const Space& space, std::vector<Point> points);

  const Space& space() const { return *space_; }
  /// Saturates at 2^63 - 1.
  std::int64_t size() const;
  /// In decimals, however many.
  std::string size_text() const;

  /// In a fixed order: that of the mesh for given points. Precondition: 0 <= index < size().
  Point at(std::int64_t index) const;
  /// nullopt: not valid.
  std::optional<std::int64_t> index_of(const Point& point) const;
  bool contains(const Point& point) const { return index_of(point).has_value(); }

  Spec spec(const Point& point) const { return space_->spec(point); }
  Spec spec(std::int64_t index) const { return spec(at(index)); }
  /// Where a spec of the grid stands. Precondition: it is of the grid, valid or not.
  Point point(const Spec& spec) const { return *space_->point(spec); }

  /// Uniform. Precondition: size() > 0.
  std::int64_t sample(Random& random) const;

  /// Whom a point has next to it, of the same mapping and by one parameter that differs:
  /// - hamming: in any of its values;
  /// - adjacent: the first valid one before and after, in the order in which its values are written;
  /// - kind: any of a categorical one's values; of others the first valid one below and above, of interval and ratio in
  ///   the order of the numbers.
  enum class Neighbourhood { hamming, adjacent, kind };
  /// The valid neighbours, without the point itself, which need not be valid; by parameter, in a fixed order.
  std::vector<Point> neighbours(const Point& point, Neighbourhood neighbourhood) const;

 private:
  struct Set;
  struct Listed;
  struct Union;
  const Space* space_;
  std::shared_ptr<const Set> set_;  ///< shared by copies
};

}  // namespace tune
