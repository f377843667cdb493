#pragma once
#include <memory>

#include "commands/tune/options.h"
#include "commands/tune/target.h"
#include "exec/evaluate/site.h"
#include "exec/process/run_observer.h"
#include "exec/request/requests.h"

namespace tune::commands {

/// The agents that --launcher asks for, which are not started yet; null without it.
std::unique_ptr<exec::OtherMachines> agents_for(const TuneOptions& options);
/// Has these agents do what this run would do on their machines. Precondition: target.workers has them. All must
/// outlive the site. Throws Error(bad_input), and what Cluster::prepare throws.
std::unique_ptr<exec::Site> agents_site(const TuneOptions& options, const Target& target,
                                        const exec::Requests& requests, bool share_processes,
                                        exec::RunObserver& observer);

}  // namespace tune::commands
