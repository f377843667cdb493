#pragma once
#include <memory>

#include "commands/tune/options.h"
#include "commands/tune/target.h"
#include "exec/cluster/cluster.h"
#include "exec/request/request_factory.h"

namespace tune::commands {

/// The agents that --launcher asks for, which are not started yet; null without it.
std::unique_ptr<exec::OtherMachines> agents_for(const TuneOptions& options);
/// What these agents need to do what this run would do on their machines. Throws Error(bad_input).
exec::AgentPlan agent_plan(const Target& target, const exec::RequestFactory& requests, bool share_processes);

}  // namespace tune::commands
