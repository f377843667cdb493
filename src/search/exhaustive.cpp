#include "search/exhaustive.h"

#include <algorithm>

namespace tune {

Exhaustive::Exhaustive(const Space& space, std::vector<Spec> first, Wanted wanted)
    : walk_(space), first_(std::move(first)), wanted_(std::move(wanted)) {}

std::optional<Spec> Exhaustive::ask() {
  if (next_first_ < first_.size()) return first_[next_first_++];
  const auto was_first = [this](const Spec& spec) {
    return std::any_of(first_.begin(), first_.end(),
                       [&](const Spec& other) { return other.mesh_idx == spec.mesh_idx; });
  };
  while (auto spec = walk_.next())
    if (!was_first(*spec) && wanted_(*spec)) return spec;
  return std::nullopt;
}

}  // namespace tune
