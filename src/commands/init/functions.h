#pragma once
#include <vector>

#include "commands/init/branches.h"
#include "commands/init/source.h"

namespace tune::commands {

/// The code without main, and functions that launch a kernel. `first_line`: that of the first of these, unless it is
/// known already; 0: there is none.
Tokens without_host_functions(const Tokens& code, int& first_line);
/// The functions that can be kernels, without their constants.
std::vector<Kernel> kernels_in(const Tokens& code, const std::vector<Branch>& branches, bool for_gpu);

}  // namespace tune::commands
