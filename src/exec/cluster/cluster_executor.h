#pragma once
#include <memory>

#include "exec/cluster/cluster.h"
#include "exec/evaluate/executor.h"
#include "exec/process/run_observer.h"
#include "exec/request/request_factory.h"

namespace tune::exec {

/// The machines of a cluster, through their agents, which prepare for the plan now. Finals are held on the first device
/// of one agent; if that is lost, they are held again on another one. `store` is this machine's, and has artifacts of
/// earlier results. Cluster, requests and observer, which has the news of agents, must outlive it. Throws what
/// Cluster::prepare throws.
std::unique_ptr<Executor> cluster_executor(Cluster& cluster, const RequestFactory& requests, const AgentPlan& plan,
                                           platform::StorePlaces store, RunObserver& observer);

}  // namespace tune::exec
