#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/restriction.h"
#include "model/space.h"
#include "model/values/error.h"
#include "model/values/natural.h"
#include "model/values/random.h"

namespace tune {

/// Thrown if constraints connect so many parameters that their valid combinations cannot be counted; sample_specs() may
/// help. The text says only this.
struct TooEntangled : Error {
  explicit TooEntangled(const std::vector<std::string>& parameters);
};

/// The valid specs of a space: how many there are, and which. It knows nothing of measurements.
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
  Natural exact_size() const;

  /// In a fixed order: that of the mesh for given points. Precondition: 0 <= index < size().
  Point at(std::int64_t index) const;
  /// nullopt: not valid.
  std::optional<std::int64_t> index_of(const Point& point) const;
  bool contains(const Point& point) const { return index_of(point).has_value(); }

  Spec spec(const Point& point) const { return space_->spec(point); }
  Spec spec(std::int64_t index) const { return spec(at(index)); }
  /// The point of a spec. Precondition: it is in the grid, valid or not.
  Point point(const Spec& spec) const { return *space_->point(spec); }

  /// Uniform. Precondition: size() > 0.
  std::int64_t sample(Random& random) const;

 private:
  struct Set;
  struct Listed;
  struct Union;
  const Space* space_;
  std::shared_ptr<const Set> set_;  ///< shared by copies
};

/// Why a mapping of the union has no valid spec.
struct Contradiction {
  std::vector<const Derived*> derived;         ///< these cannot be computed anywhere that the others hold
  std::vector<const Constraint*> constraints;  ///< these never hold together
  bool minimal = true;                         ///< if any one of them is removed, there are valid specs
  bool operator==(const Contradiction&) const = default;
};

/// One for each mapping that has the parameters of all restrictions but no valid spec, if this can be found quickly.
/// The pointers refer to the space.
std::vector<Contradiction> contradictions(const Space& space, const std::vector<Restriction>& restrictions);

}  // namespace tune
