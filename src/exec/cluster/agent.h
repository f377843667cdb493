#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "exec/device/measure_service.h"
#include "wire/agents/agent_messages.h"

namespace tune::exec {

/// What an agent works on: a plan that its driver has sent, as this machine understands it.
class AgentWork {
 public:
  virtual ~AgentWork() = default;
  virtual const RequestFactory& requests() const = 0;
  virtual WorkerRules rules() const = 0;
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
/// agents. It ends when the driver says so, or is gone; then this process gets SIGTERM. Throws Error, also if the
/// driver refuses it, and Interrupted.
void run_agent(AgentRules rules);

}  // namespace tune::exec
