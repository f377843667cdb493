#include "fakes/fake_agents.h"

#include <algorithm>
#include <utility>

namespace tune {

FakeAgents::Number FakeAgents::add(wire::AgentHello hello, wire::Hello machine, int devices, int slots) {
  const Number number = agents_.size();
  Agent& agent = agents_.emplace_back();
  agent.link = hub_.connect(host_, port_, std::chrono::seconds(10));
  agent.machine = std::move(machine);
  agent.devices = devices;
  agent.slots = slots;
  by_link_[agent.link] = number;
  report(number, std::move(hello));
  return number;
}

void FakeAgents::vanish(Number agent) {
  agents_[agent].ended = true;
  hub_.close(agents_[agent].link);
}

void FakeAgents::report(Number agent, const wire::AgentReport& report) {
  hub_.send(agents_[agent].link, wire::encode_report(report));
}

bool FakeAgents::serve(platform::FrameHub::Clock::time_point until, const Time& time,
                       const std::function<bool(Number, const wire::AgentOrder&)>& before) {
  const auto any_left = [&] { return std::ranges::any_of(agents_, [](const Agent& agent) { return !agent.ended; }); };
  while (any_left()) {
    const auto event = hub_.wait(until);
    if (!event) return true;
    if (const auto* closed = std::get_if<platform::FrameHub::Closed>(&*event))
      agents_[by_link_.at(closed->id)].ended = true;
    const auto* arrived = std::get_if<platform::FrameHub::Arrived>(&*event);
    if (arrived == nullptr) continue;
    const Number agent = by_link_.at(arrived->id);
    const wire::AgentOrder order = wire::decode_order(arrived->text);
    if (!agents_[agent].ended && !(before && before(agent, order))) answer(agent, order, time);
  }
  return false;
}

Trial FakeAgents::trial(const Spec& spec, double seconds) {
  Measurement measurement;
  measurement.timing = {.count = 7,
                        .median = seconds,
                        .min = seconds,
                        .mean = seconds,
                        .p95 = seconds,
                        .ci_low = seconds,
                        .ci_high = seconds};
  measurement.checked = true;
  return {spec, measurement, seconds, false, seconds};
}

void FakeAgents::answer(Number number, const wire::AgentOrder& order, const Time& time) {
  Agent& agent = agents_[number];
  if (const auto* unwelcome = std::get_if<wire::Unwelcome>(&order)) {
    agent.unwelcome = unwelcome->why;
    vanish(number);
  }
  if (std::holds_alternative<wire::ProbeOrder>(order)) report(number, wire::Probed{agent.machine, agent.devices});
  if (std::holds_alternative<wire::PlanOrder>(order)) report(number, wire::Ready{agent.slots, ""});
  if (const auto* best = std::get_if<wire::BestOrder>(&order)) agent.bests.push_back(*best);
  if (const auto* spec = std::get_if<wire::SpecOrder>(&order)) {
    agent.specs.push_back(spec->spec);
    report(number, wire::TrialReport{spec->ticket, trial(spec->spec, time(number, spec->spec))});
  }
  if (const auto* finals = std::get_if<wire::FinalsOrder>(&order)) hold_finals(number, *finals, time);
  if (std::holds_alternative<wire::UsageOrder>(order))
    report(number, wire::UsageReport{{1, 2, 3, 4, 5}, 0.5, 6, agent.devices, 0});
  if (std::holds_alternative<wire::Farewell>(order)) vanish(number);
}

void FakeAgents::hold_finals(Number agent, const wire::FinalsOrder& order, const Time& time) {
  constexpr int kRounds = 7;
  Finals finals;
  for (const wire::Contender& contender : order.contenders) {
    Finalist& finalist = finals.finalists.emplace_back();
    finalist.entrant = contender.entrant;
    for (int round = 1; round <= kRounds; ++round) finalist.rounds[round].seconds = time(agent, contender.entrant.spec);
    finalist.launches = kRounds;
  }
  report(agent, wire::FinalsReport{kRounds, static_cast<int>(order.contenders.size()), finals, true});
}

}  // namespace tune
