#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/evaluate/local_executor.h"
#include "platform/net/frame_hub.h"
#include "wire/agents/agent_messages.h"

namespace tune::exec {

/// What an agent works on: a plan that its driver has sent, as this machine understands it.
class AgentWork {
 public:
  virtual ~AgentWork() = default;
  virtual const RequestFactory& requests() const = 0;
  virtual MeasureOptions options() const = 0;
};

/// Files that the driver has sent, by the hash of their bytes.
using AgentFiles = std::map<std::string, std::string>;

struct AgentRules {
  std::string host;  ///< the driver's
  std::uint16_t port = 0;
  wire::AgentHello hello;
  std::string drivers_token;  ///< the half that the driver has to show
  /// Throw Error.
  std::function<wire::Probed(const wire::ProbeOrder&)> probe;
  std::function<std::unique_ptr<AgentWork>(const wire::PlanOrder&, const AgentFiles&)> prepare;
};

/// The other end of a Cluster: does on this machine what the driver of a run orders, by the same means as a run without
/// agents. It ends when the driver says so, or is gone.
class Agent : private RunObserver {
 public:
  explicit Agent(AgentRules rules);

  /// Throws Error, also if the driver refuses it, and Interrupted. If the driver is gone, this process gets SIGTERM.
  void run();

 private:
  struct Ended {};

  void handle_orders(platform::FrameHub::Clock::time_point until);
  void obey(const wire::AgentOrder& order);
  void be_welcomed(const wire::AgentOrder& order);
  void probe(const wire::ProbeOrder& order);
  void rest();
  void prepare(const wire::PlanOrder& order);
  int slots() const;
  void take(const wire::SpecOrder& order);
  void begin(const wire::SpecOrder& order);
  void take_artifact(const wire::ArtifactFiles& files);
  void send_artifact(const wire::ArtifactOrder& order);
  void hold_finals(const wire::FinalsOrder& order);
  void await_artifacts(const std::vector<std::string>& keys);
  void work();
  void finish(Trial trial);
  void started(const Spec& spec, std::size_t device) override;
  void news(const std::string& text) override;
  void warning(const std::string& text) override;
  void tell_distrust();
  void tell_usage();
  void look_after_main_loop(std::chrono::duration<double> longest_step);
  void report(const wire::AgentReport& report);
  void show_that_it_works();

  AgentRules rules_;
  platform::FrameHub hub_;
  platform::FrameHub::Id driver_ = 0;
  bool welcome_ = false;  ///< the driver has shown that it is ours
  AgentFiles files_;
  std::unique_ptr<AgentWork> work_;
  std::unique_ptr<LocalExecutor> executor_;
  std::list<wire::SpecOrder> begun_;
  std::map<std::string, std::deque<wire::SpecOrder>> awaiting_;  ///< specs whose artifacts come from others
  std::map<std::string, bool> arrived_;                          ///< artifacts that the finals wait for
  std::optional<wire::FinalsOrder> finals_;
  bool distrusts_ = false;
  double silence_ = 0;                             ///< seconds after which the driver gives an agent up
  platform::FrameHub::Clock::time_point shown_{};  ///< when the driver was told that this one works
};

}  // namespace tune::exec
