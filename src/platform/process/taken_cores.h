#pragma once
#include <optional>

namespace tune::platform {

/// How many threads other than the caller run now on the cores that this process may use; of a part of the machine's
/// cores, their share. nullopt if the system does not tell.
std::optional<double> others_running();

}  // namespace tune::platform
