#pragma once
#include <optional>

namespace tune::base {

/// How many threads run on this machine now besides the caller; nullopt where the system does not tell.
std::optional<int> others_running();

}  // namespace tune::base
