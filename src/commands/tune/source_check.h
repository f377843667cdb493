#pragma once
#include <string>
#include <vector>

#include "model/plan.h"

namespace tune::commands {

/// What in the launches of a plan does not fit its source, as far as the text of that tells: a kernel that is not
/// there, arguments that are not as many as a kernel's parameters, and a buffer of another type than the float* or
/// double* that it is passed for. A run would probably lose every spec by it. Builds nothing.
std::vector<std::string> misfits_of_source(const Plan& plan);

}  // namespace tune::commands
