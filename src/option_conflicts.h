#pragma once
#include "options.h"

namespace tune {

/// Throws Error(bad_input) for options that exclude each other, that miss another one, or whose files cannot be used
/// together.
void refuse_conflicts(const Options& options);

}  // namespace tune
