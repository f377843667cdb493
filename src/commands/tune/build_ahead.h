#pragma once
#include <deque>
#include <memory>

#include "commands/tune/options.h"
#include "commands/tune/target.h"
#include "exec/process/worker_pool.h"

namespace tune::commands {

/// Builds what the searches for these targets will ask for first, all in one queue: the few builds of one leave
/// most cores idle. The store keeps what was built, and each tuning finds it there. Failed builds are left to the
/// tunings, which report them. On a GPU the process that makes references begins meanwhile, and rests in `pool`. Does
/// nothing for runs that search nothing or leave the building to others. Throws Error, Interrupted.
void build_ahead(const TuneOptions& options, std::deque<Target>& targets, std::shared_ptr<exec::WorkerPool>& pool);

}  // namespace tune::commands
