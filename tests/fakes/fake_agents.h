#pragma once
// Agents without machines: they connect to a real driver, and answer as they are told to.
#include <functional>
#include <string>
#include <vector>

#include "platform/net/frame_hub.h"
#include "wire/agents/agent_messages.h"

namespace tune {

/// Several agents in one process, over connections of their own.
class FakeAgents {
 public:
  using Number = std::size_t;
  /// Seconds that a spec takes on the agent.
  using Time = std::function<double(Number agent, const Spec& spec)>;

  FakeAgents(std::string host, std::uint16_t port) : host_(std::move(host)), port_(port) {}

  /// Connects one more; returns its number.
  Number add(wire::AgentHello hello, wire::Hello machine, int devices = 1, int slots = 4);
  /// Closes its connection at once.
  void vanish(Number agent);
  void report(Number agent, const wire::AgentReport& report);

  /// Handles what comes until the time is over, or the driver has said farewell to all that are left. What `before`
  /// returns true for is not answered. Returns false once all have ended.
  bool serve(platform::FrameHub::Clock::time_point until, const Time& time,
             const std::function<bool(Number, const wire::AgentOrder&)>& before = {});
  /// Why the driver sent an agent away; empty: it did not.
  const std::string& unwelcome(Number agent) const { return agents_[agent].unwelcome; }
  /// The specs that an agent was given.
  const std::vector<Spec>& specs(Number agent) const { return agents_[agent].specs; }
  /// The orders that told an agent of the best time.
  const std::vector<wire::BestOrder>& bests(Number agent) const { return agents_[agent].bests; }

  static Trial trial(const Spec& spec, double seconds);

 private:
  struct Agent {
    platform::FrameHub::Id link = 0;
    wire::Hello machine;
    int devices = 1, slots = 4;
    bool ended = false;
    std::string unwelcome;
    std::vector<Spec> specs;
    std::vector<wire::BestOrder> bests;
  };

  void answer(Number agent, const wire::AgentOrder& order, const Time& time);
  void hold_finals(Number agent, const wire::FinalsOrder& order, const Time& time);

  std::string host_;
  std::uint16_t port_;
  platform::FrameHub hub_{std::chrono::seconds(60)};
  std::vector<Agent> agents_;
  std::map<platform::FrameHub::Id, Number> by_link_;
};

}  // namespace tune
