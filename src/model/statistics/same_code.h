#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/trial.h"

namespace tune {

/// Maps the mesh_idx of a measured spec to that of the spec that represents all specs with the same artifact, launch
/// and workspace (BuildInfo::code). The representative is not listed itself; it is the default if that is one of them,
/// else the lowest that was timed in full.
using SameCode = std::map<std::int64_t, std::int64_t>;
SameCode same_code(std::span<const Trial> trials, const std::optional<Spec>& default_spec);

/// Parameters that do not change the code: specs that differ only in such a parameter have the same code. Parameters
/// with a single value, and those for which no two specs differ in them alone, are not included.
std::vector<std::string> idle_parameters(std::span<const Trial> trials);

}  // namespace tune
