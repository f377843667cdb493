#pragma once
#include <memory>

#include "commands/tune/options.h"
#include "commands/tune/target.h"
#include "exec/evaluate/executor.h"
#include "exec/process/run_observer.h"
#include "exec/request/request_factory.h"

namespace tune::commands {

/// The agents that --launcher asks for, which are not started yet; null without it.
std::unique_ptr<exec::OtherMachines> agents_for(const TuneOptions& options);
/// Has these agents do what this run would do on their machines. Precondition: target.workers has them. All must
/// outlive the executor. Throws Error(bad_input), and what Cluster::prepare throws.
std::unique_ptr<exec::Executor> agents_executor(const TuneOptions& options, const Target& target,
                                                const exec::RequestFactory& requests, bool share_processes,
                                                exec::RunObserver& observer);

}  // namespace tune::commands
