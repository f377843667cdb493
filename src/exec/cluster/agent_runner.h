#pragma once
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/cluster/artifact_relay.h"
#include "exec/cluster/cluster.h"
#include "exec/device/calibration.h"
#include "exec/process/run_observer.h"
#include "exec/process/runner.h"
#include "exec/process/stage_times.h"
#include "exec/request/request_factory.h"

namespace tune::exec {

/// Runs specs on the machines of a cluster: gives each to the agent that has least to do, or to the one that has built
/// its artifact, and takes the results. What an agent had when it was lost goes to others.
///
/// The times of agents are made comparable (Calibration) by specs that the first agent to have timed a few in full has
/// timed. Until an agent's factor is known, it is not told of the best time.
class AgentRunner : public Runner {
 public:
  using Number = Cluster::Number;

  /// All must outlive this. The cluster is prepared.
  AgentRunner(Cluster& cluster, const RequestFactory& requests, RunObserver& observer);

  int free_slots() const override;
  void start(const Spec& spec) override;
  std::optional<Trial> wait(Clock::time_point until) override;
  void set_best(const Trial& best, double seconds, double joules) override;
  Activity activity() const override;

  /// The sum of what the agents say that live; nullopt if nothing was run. Throws as wait.
  std::optional<Usage> usage();
  const std::string& distrust() const { return distrust_; }
  void stop_sharing();

  /// The next event, after it has been handled as far as it is about specs and artifacts. Throws as wait.
  std::optional<Cluster::Event> next(Clock::time_point until);
  /// The agent that others are compared with, or another if it is lost. Throws Error(environment) if all are.
  Number first_agent() const;
  /// The agent that has the artifact of a build; nullopt if none is known to.
  std::optional<Number> holder(const std::string& key) const { return artifacts_.holder(key); }
  Cluster& cluster() { return *cluster_; }
  const RequestFactory& requests() const { return *requests_; }

 private:
  using Ticket = std::int64_t;
  struct Task {
    Spec spec;
    std::string key;                                ///< of its build; empty: nothing is built
    std::optional<std::size_t> calibration_number;  ///< which one it is for an agent; unset: a spec that was asked for
    int blame = 0;                                  ///< for agents that were lost
    std::string lost_with = {};                     ///< their names
  };
  struct Node {
    std::set<Ticket> out;                    ///< tasks that it has and has not answered
    std::map<int, Ticket> runs;              ///< what runs on its devices
    std::optional<wire::UsageReport> usage;  ///< that it told last
  };

  Ticket add_task(const Spec& spec, std::optional<std::size_t> calibration_number);
  void place(Ticket ticket);
  void place_waiting();
  std::optional<Number> choose(const Task& task) const;
  bool has_room(Number agent) const;
  double load(Number agent) const;
  void give(Ticket ticket, Number agent);
  void handle(const Cluster::Event& event);
  void take(Number agent, wire::TrialReport report);
  void take_calibration(Number agent, std::size_t calibration_number, const Trial& trial);
  void choose_anchor();
  void compare_with(Number anchor);
  void release(Number agent);
  void tell_best(Number agent);
  void finish(Number agent, wire::TrialReport report);
  void lose(Number agent, const std::string& why);
  bool blame(Ticket ticket, Number agent, bool ran);

  Cluster* cluster_;
  const RequestFactory* requests_;
  ArtifactRelay artifacts_;
  std::vector<Node> nodes_;
  std::unordered_map<Ticket, Task> tasks_;
  std::deque<Ticket> waiting_;  ///< tasks that no agent has
  Ticket last_ticket_ = 0;
  Calibration<wire::TrialReport> calibration_;
  double best_seconds_ = 0, best_joules_ = 0;
  RunObserver* observer_;
  std::string distrust_;
  std::deque<Trial> finished_;
};

}  // namespace tune::exec
