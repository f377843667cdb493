#pragma once
#include <deque>

#include "commands/tune/options.h"
#include "commands/tune/target.h"

namespace tune::commands {

/// Builds what the searches for these targets will ask for first, all in one queue: the few builds of one leave
/// most cores idle. The store keeps what was built, and each tuning finds it there. Failed builds are left to the
/// tunings, which report them. Does nothing for runs that search nothing or leave the building to others. Throws Error,
/// Interrupted.
void build_ahead(const TuneOptions& options, std::deque<Target>& targets);

}  // namespace tune::commands
