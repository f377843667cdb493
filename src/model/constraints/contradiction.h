#pragma once
#include <vector>

#include "model/restriction.h"
#include "model/space.h"

namespace tune {

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
