#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/restriction.h"
#include "model/space.h"

namespace tune::config {

/// One --filter: specs whose parameter `name` is `value`.
struct Filter {
  std::string name;
  Value value;
};

/// Reads NAME=VALUE texts. Throws Error(bad_input) for a name that is not a parameter, and for a value that the
/// parameter never has.
std::vector<Filter> parse_filters(std::span<const std::string> texts, const Space& space);

/// Whether a spec passes the filters: the values given for one name are or-ed, names are and-ed. Filters do not change
/// mesh_idx.
bool matches(std::span<const Filter> filters, const Spec& spec);

/// The filters as one restriction per name. `filters` must outlive them.
std::vector<Restriction> restrictions(std::span<const Filter> filters);

}  // namespace tune::config
