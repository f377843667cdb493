#pragma once
#include <filesystem>
#include <vector>

#include "interop/recording.h"

namespace tune::interop {

/// Reads a recorded run as read_recording does, but of a journal all problems that its runs were for, one recording
/// each, and not only that of the last run. A problem of which no trial is recorded is left out.
std::vector<Recording> read_all_problems(const std::filesystem::path& path);

}  // namespace tune::interop
