#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/plan.h"
#include "model/restriction.h"
#include "model/space.h"

namespace tune::config {

/// One --filter: specs whose parameter `name` is `value`.
struct Filter {
  std::string name;
  Value value;
  std::string typed = {};  ///< the value as the user wrote it; empty: it is from elsewhere
};

/// Reads NAME=VALUE texts. Throws Error(bad_input) for a name that is not a parameter, and for a value that the
/// parameter never has.
std::vector<Filter> parse_filters(std::span<const std::string> texts, const Space& space);

/// The baseline that NAME=VALUE texts name. A parameter that they do not name has the only value that it has, or that
/// the filters leave it. Throws Error(bad_input), also if it is a spec that passes the filters, beside which nothing
/// could be slower.
Baseline parse_baseline(std::span<const std::string> texts, const Space& space, std::span<const Filter> filters);

/// Whether a spec passes the filters: the values given for one name are or-ed, names are and-ed. Filters do not change
/// mesh_idx.
bool matches(std::span<const Filter> filters, const Spec& spec);

/// The filters as one restriction per name. `filters` must outlive them.
std::vector<Restriction> restrictions(std::span<const Filter> filters);

}  // namespace tune::config
