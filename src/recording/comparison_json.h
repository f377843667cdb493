#pragma once
#include <string>

#include "model/statistics/comparison.h"

namespace tune::recording {

/// A comparison with all that was compared, for other programs: docs/comparing.md has its members.
std::string to_json(const RunComparison& comparison);

}  // namespace tune::recording
