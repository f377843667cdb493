#pragma once
#include <optional>

namespace tune::platform {

/// How many threads other than the caller run on this machine now; nullopt if the system does not tell.
std::optional<int> others_running();

}  // namespace tune::platform
