#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/trial.h"

namespace tune {

/// Measured specs whose artifact, launch and workspace are the same (BuildInfo::code): a spec's mesh_idx to that of the
/// one that stands for all of them, which is not listed itself. It is `default_idx` if that is among them, else the
/// lowest that was timed in full.
using SameCode = std::map<std::int64_t, std::int64_t>;
SameCode same_code(std::span<const Trial> trials, std::optional<std::int64_t> default_idx);

/// Parameters that do not change the code: specs that differ in such a one alone have the same. Those with a single
/// value, and those of which nothing can be said because no two specs differ in them alone, are not among them.
std::vector<std::string> idle_parameters(std::span<const Trial> trials);

}  // namespace tune
