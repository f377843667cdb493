#pragma once
#include <vector>

#include "commands/init/tokens.h"

namespace tune::commands {

/// Removes what only products with an epilogue, scales or groups of rows compile: of a plain one, none of the macros
/// `epilogue_...`, `scale_a_...`, `scale_b_...`, `groups_contiguous` and `groups_masked` is defined. What sources
/// define by these macros, such as `HAS_BIAS`, counts in all of them.
void leave_out_epilogues(std::vector<SourceText>& sources);

}  // namespace tune::commands
