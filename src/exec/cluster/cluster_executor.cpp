#include "exec/cluster/cluster_executor.h"

#include <functional>
#include <utility>
#include <variant>

#include "exec/cluster/agent_runner.h"
#include "exec/cluster/artifact_files.h"
#include "exec/process/scratch.h"
#include "model/values/error.h"

namespace tune::exec {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

/// The next report of this kind from the agent, or that it is lost. `tick` is called between events. Throws what
/// AgentRunner::wait throws.
template <typename Report>
std::variant<Report, Cluster::Lost> answer_of(AgentRunner& runner, Cluster::Number agent,
                                              const std::function<void()>& tick) {
  for (;;) {
    tick();
    const auto event = runner.next(Cluster::Clock::now() + kTick);
    if (!event) continue;
    if (const auto* lost = std::get_if<Cluster::Lost>(&*event); lost && lost->agent == agent) return *lost;
    const auto* from = std::get_if<Cluster::Report>(&*event);
    const auto* report = from != nullptr ? std::get_if<Report>(&from->report) : nullptr;
    if (report != nullptr && from->agent == agent) return *report;
  }
}

class AgentFinals : public FinalsRun {
 public:
  AgentFinals(AgentRunner& runner, std::vector<wire::Contender> contenders, FinalsRules rules,
              platform::StorePlaces store)
      : runner_(&runner), contenders_(std::move(contenders)), rules_(std::move(rules)), store_(std::move(store)) {}

  Finals run(const Tick& tick) override {
    for (;;) {
      const AgentRunner::Number agent = runner_->first_agent();
      so_far_ = {};
      send_stored(agent);
      runner_->cluster().send(agent, order_for(agent));
      if (hold_at(agent, tick)) return std::move(so_far_);
      runner_->cluster().say("the finals begin again on another agent");
    }
  }

  Finals so_far() const override { return so_far_; }

 private:
  // Returns false if the agent is lost.
  bool hold_at(AgentRunner::Number agent, const Tick& tick) {
    int round = 0;
    std::size_t left = contenders_.size();
    for (;;) {
      const auto answer = answer_of<wire::FinalsReport>(*runner_, agent, [&] { tick(round, left); });
      const auto* report = std::get_if<wire::FinalsReport>(&answer);
      if (report == nullptr) return false;
      round = report->round;
      left = static_cast<std::size_t>(report->left);
      if (report->so_far) so_far_ = *report->so_far;
      if (report->end) return true;
    }
  }

  // The artifacts of earlier results are in this machine's store, and agents may not have them.
  void send_stored(AgentRunner::Number agent) const {
    for (const wire::Contender& contender : contenders_) {
      if (!contender.stored) continue;
      const platform::Store store(store_);
      for (const std::filesystem::path& entry : store.find(contender.stored->key))
        if (const auto artifact = read_entry(store, entry, contender.stored->key))
          runner_->cluster().send(agent, pack(contender.stored->key, &*artifact));
    }
  }

  wire::FinalsOrder order_for(AgentRunner::Number agent) const {
    wire::FinalsOrder order{contenders_, {}, rules_};
    const auto now = FinalsRules::Clock::now();
    order.seconds = std::chrono::duration<double>(rules_.end - now).count();
    order.last_seconds = std::chrono::duration<double>(rules_.end_of_first_rounds - now).count();
    for (const wire::Contender& contender : contenders_) {
      if (!runner_->requests().has_build() || contender.entrant.is_vendor() || contender.stored || contender.failure)
        continue;
      const std::string key = runner_->requests().build_key(contender.entrant.spec);
      if (const auto holder = runner_->holder(key); holder && *holder != agent) order.built_elsewhere.push_back(key);
    }
    return order;
  }

  AgentRunner* runner_;
  std::vector<wire::Contender> contenders_;
  FinalsRules rules_;
  platform::StorePlaces store_;
  Finals so_far_;
};

AgentRunner prepared(Cluster& cluster, const RequestFactory& requests, const AgentPlan& plan, RunObserver& observer) {
  cluster.prepare(plan);
  return {cluster, requests, observer};
}

/// See cluster_executor().
class ClusterExecutor : public Executor {
 public:
  ClusterExecutor(Cluster& cluster, const RequestFactory& requests, const AgentPlan& plan, platform::StorePlaces store,
                  RunObserver& observer)
      : store_(std::move(store)), told_(cluster, observer), runner_(prepared(cluster, requests, plan, observer)) {}

  Runner& runner() override { return runner_; }
  std::string distrust() const override { return runner_.distrust(); }
  void stop_sharing() override { runner_.stop_sharing(); }

  std::unique_ptr<FinalsRun> finals(std::vector<wire::Contender> contenders, FinalsRules rules) override {
    return std::make_unique<AgentFinals>(runner_, std::move(contenders), std::move(rules), store_);
  }

  Artifact artifact(const Spec& spec) override {
    const std::string key = runner_.requests().build_key(spec);
    const AgentRunner::Number agent = runner_.holder(key).value_or(runner_.first_agent());
    runner_.cluster().send(agent, wire::ArtifactOrder{key, spec});
    for (;;) {
      const auto answer = answer_of<wire::ArtifactFiles>(runner_, agent, [] {});
      if (const auto* lost = std::get_if<Cluster::Lost>(&answer))
        throw Error(ExitCode::environment, "the agent that has it was lost: " + lost->why);
      const auto& files = std::get<wire::ArtifactFiles>(answer);
      if (files.key != key) continue;
      if (!scratch_) scratch_.emplace();
      const platform::Store store({scratch_->folder(), true, {}});
      unpack(files, store);
      for (const std::filesystem::path& entry : store.find(key))
        if (auto artifact = read_entry(store, entry, key)) return std::move(*artifact);
      throw Error(ExitCode::environment, "the agent does not have it, and cannot build it again");
    }
  }

  std::optional<Usage> usage() override { return runner_.usage(); }

 private:
  /// Has the observer told what the cluster says, as long as it lives.
  class Told {
   public:
    Told(Cluster& cluster, RunObserver& observer)
        : cluster_(&cluster),
          earlier_(cluster.set_say([&observer](const std::string& text, bool) { observer.news(text); })) {}
    ~Told() { cluster_->set_say(std::move(earlier_)); }
    Told(const Told&) = delete;
    Told& operator=(const Told&) = delete;

   private:
    Cluster* cluster_;
    Cluster::Say earlier_;
  };

  platform::StorePlaces store_;  ///< of this machine: has artifacts of earlier results
  Told told_;
  AgentRunner runner_;
  std::optional<Scratch> scratch_;  ///< has a store for artifacts that came from agents
};

}  // namespace

std::unique_ptr<Executor> cluster_executor(Cluster& cluster, const RequestFactory& requests, const AgentPlan& plan,
                                           platform::StorePlaces store, RunObserver& observer) {
  return std::make_unique<ClusterExecutor>(cluster, requests, plan, std::move(store), observer);
}

}  // namespace tune::exec
