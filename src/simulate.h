#pragma once
#include "model/error.h"
#include "options.h"

namespace tune {

/// Tunes on a recorded run (--simulate): specs are answered from it, in the order they are asked for, and its seconds
/// pass on a clock of its own; no worker, device or journal takes part. The space is that of the tuning file, or
/// without one what was recorded. Throws Error(bad_input) for a spec that is not in the recording; nothing is written
/// then.
ExitCode simulate(const Options& options);

}  // namespace tune
