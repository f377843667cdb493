#pragma once
#include <memory>
#include <optional>

#include "exec/cluster/agent_pool.h"
#include "exec/evaluate/executor.h"
#include "exec/process/scratch.h"

namespace tune::exec {

/// The machines of a cluster, through their agents.
class ClusterExecutor : public Executor {
 public:
  /// Has the agents prepare for the plan. Cluster, requests and observer, which has the news of agents, must outlive
  /// this. Throws what Cluster::prepare throws.
  ClusterExecutor(Cluster& cluster, const RequestFactory& requests, const AgentPlan& plan, platform::StorePlaces store,
                  RunObserver& observer);

  Runner& runner() override { return pool_; }
  std::string distrust() const override { return pool_.distrust(); }
  void stop_sharing() override { pool_.stop_sharing(); }
  /// They are held on the first device of one agent. If that is lost, they are held again on another one.
  std::unique_ptr<FinalsRun> finals(std::vector<Contender> contenders, FinalsRules rules) override;
  Artifact artifact(const Spec& spec) override;
  /// What the agents say that live.
  std::optional<Usage> usage() override;

 private:
  /// Has the observer told what the cluster says, as long as it lives.
  class Told {
   public:
    Told(Cluster& cluster, RunObserver& observer);
    ~Told() { cluster_->set_say(std::move(earlier_)); }
    Told(const Told&) = delete;
    Told& operator=(const Told&) = delete;

   private:
    Cluster* cluster_;
    Cluster::Say earlier_;
  };

  platform::StorePlaces store_;  ///< of this machine: has artifacts of earlier results
  Told told_;
  AgentPool pool_;
  std::optional<Scratch> scratch_;  ///< has a store for artifacts that came from agents
};

}  // namespace tune::exec
