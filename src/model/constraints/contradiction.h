#pragma once
#include <vector>

#include "model/constraints/valid_specs.h"

namespace tune {

/// Why a mapping of the union has no valid spec.
struct Contradiction {
  std::vector<const Derived*> derived;         ///< these can be computed nowhere, or not where the others hold
  std::vector<const Constraint*> constraints;  ///< these hold nowhere together
  bool minimal = true;                         ///< without any one of them there would be specs
  bool operator==(const Contradiction&) const = default;
};

/// One per mapping that has parameters of all restrictions and no spec, as far as that can be found quickly. What it
/// points to is of the space.
std::vector<Contradiction> contradictions(const Space& space, const std::vector<Restriction>& restrictions);

}  // namespace tune
