#pragma once
#include <string>

#include "recording/recording.h"

namespace tune::recording {

/// T4 results: the schema's members, and both spellings of those that Kernel Tuner writes in its own way. Device,
/// kernel and problem, for which the schema has no place, stand in `metadata`, and there too what the times are if they
/// are no medians.
std::string to_t4(const Recording& recording, const std::string& timestamp);

}  // namespace tune::recording
