#pragma once
#include <string>
#include <vector>

#include "recording/recording.h"

namespace tune::commands {

/// A recording as a journal: it can be simulated and converted, but no run continues it, because it does not know
/// sources, flags and compilers.
std::string to_journal(const recording::Recording& recording, const std::vector<std::string>& command);

}  // namespace tune::commands
