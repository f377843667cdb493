#pragma once
#include <optional>
#include <span>

#include "commands/tune/options.h"
#include "config/shapes/shapes.h"
#include "exec/workers.h"

namespace tune::commands {

/// Builds what the searches for these shapes will ask for first, all in one queue: the few builds of one shape leave
/// most cores idle. The store keeps what was built, and each tuning finds it there. Failed builds are left to the
/// tunings, which report them. Does nothing for runs that search nothing or leave the building to others. Throws Error,
/// Interrupted.
void build_ahead(const TuneOptions& options, exec::Workers& workers,
                 std::span<const std::optional<config::Shape>> shapes);

}  // namespace tune::commands
