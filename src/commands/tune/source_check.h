#pragma once
#include <string>
#include <vector>

#include "model/plan.h"

namespace tune::commands {

/// What in the launches of a plan does not fit its source, as far as the text of that tells: a kernel that is not
/// there, and arguments that are not as many as a kernel's parameters. A run would lose every spec by it. Builds
/// nothing.
std::vector<std::string> misfits_of_source(const Plan& plan);

}  // namespace tune::commands
