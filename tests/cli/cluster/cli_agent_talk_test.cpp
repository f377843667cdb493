// What a run and its agents say to each other: the real driver with agents that only talk, and a real agent whose
// driver is not its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "fakes/fake_agents.h"
#include "support/cli.h"
#include "support/connection.h"
#include "support/has.h"

namespace tune::cli::cli_agent_talk_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A run of the real driver over a command, whose launcher waits for agents of this process.
class Talk : public testing::Test {
 protected:
  void start(int agents, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "--param",    "X:[1,2,3,4,5,6,7,8,9,10,11,12]",
        "--output",   "run",
        "--launcher", "echo $TUNE_AGENT_TOKEN {agent} > new; mv new started; while [ ! -e over ]; do sleep 0.01; done",
        "--agents",   std::to_string(agents),
        "--listen",   "127.0.0.1",
        "--tune"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "true", "{X}"});
    run_ = std::make_unique<Background>(sandbox_, words);
    EXPECT_TRUE(eventually([&] { return fs::exists(sandbox_.folder() / "started"); }));
    std::istringstream said(sandbox_.read("started"));
    std::string token, program, agent, connect, address;
    said >> token >> program >> agent >> connect >> address;
    hello_.token = wire::halves_of(token).agents;
    const std::size_t colon = address.rfind(':');
    agents_ = std::make_unique<FakeAgents>(address.substr(0, colon),
                                           static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    machine_.backend = Backend::program;
    machine_.device.name = "a machine";
    machine_.compiler = "c++ 12";
  }

  FakeAgents::Number add(const std::string& host) {
    hello_.host = host;
    return agents_->add(hello_, machine_);
  }

  /// Serves until the run has ended.
  Result finish(const FakeAgents::Time& time,
                const std::function<bool(FakeAgents::Number, const wire::AgentOrder&)>& before = {}) {
    while (!run_->ended()) {
      if (!agents_->serve(platform::FrameHub::Clock::now() + 20ms, time, before)) sandbox_.write("over", "");
    }
    return run_->wait();
  }

  static double seconds_of(const Spec& spec) {
    return static_cast<double>(std::get<std::int64_t>(spec.params.front().value)) / 1000;
  }

  bool was_given(FakeAgents::Number agent, const Spec& spec) const {
    const std::vector<Spec>& given = agents_->specs(agent);
    return std::ranges::find(given, spec.mesh_idx, &Spec::mesh_idx) != given.end();
  }

  Sandbox sandbox_;
  wire::AgentHello hello_;
  wire::Hello machine_;
  std::unique_ptr<Background> run_;
  std::unique_ptr<FakeAgents> agents_;
};

// The second machine is 2 % slower, and one spec is 10 % slower yet: the others decide what it is multiplied by.
TEST_F(Talk, TimesOfAgentsAreComparedBySeveralSpecs) {
  start(2, {"--no-finals"});
  add("fast");
  add("slow");
  const Result result = finish([](FakeAgents::Number agent, const Spec& spec) {
    const double odd = spec.mesh_idx == 0 ? 1.1 : 1;
    return seconds_of(spec) * (agent == 0 ? 1 : 1.02 * odd);
  });
  EXPECT_EQ(result.code, 0) << result.err;
  std::set<long> factors;
  for (const wire::TrialRecord& record : sandbox_.trials("run.jsonl")) {
    const Measurement* measurement = record.trial.measurement();
    ASSERT_NE(measurement, nullptr);
    factors.insert(std::lround(measurement->scaled * 10000));
  }
  EXPECT_EQ(factors.size(), 2u);
  EXPECT_TRUE(factors == (std::set<long>{10000, 9804}) || factors == (std::set<long>{10000, 10200}))
      << *factors.begin() << " " << *factors.rbegin();
  EXPECT_FALSE(agents_->bests(0).empty());
  EXPECT_FALSE(agents_->bests(1).empty());
}

// It answers nothing but what it has in common with the other one.
TEST_F(Talk, AnAgentThatCanTimeNoneOfTheCommonSpecsIsLost) {
  start(2, {"--no-finals"});
  const FakeAgents::Number one = add("one"), broken = add("broken");
  const Result result = finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); },
                               [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
                                 const auto* spec = std::get_if<wire::SpecOrder>(&order);
                                 if (spec == nullptr || agent != broken) return false;
                                 const Failure failure{Stage::measure, Cause::reported, "no such file\nas it was told"};
                                 if (was_given(one, spec->spec))
                                   agents_->report(broken, wire::TrialReport{spec->ticket, {spec->spec, failure}});
                                 return true;
                               });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "warning: lost agent broken (process 0): spec "));
  EXPECT_TRUE(has(result.err, ", which one (process 0) could time, fails there: no such file; "));
  EXPECT_TRUE(has(result.out, "Number of valid specs: 12\n"));
}

// It answers two specs, which are held back, and vanishes when it is given one that it has in common with the other.
TEST_F(Talk, WhatIsHeldBackOfALostAgentGoesToOthers) {
  start(2, {"--no-finals"});
  const FakeAgents::Number other = add("other"), slow = add("slow");
  std::size_t answered = 0;
  const Result result =
      finish([&](FakeAgents::Number agent, const Spec& spec) { return seconds_of(spec) * (agent == slow ? 1.02 : 1); },
             [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
               const auto* spec = std::get_if<wire::SpecOrder>(&order);
               if (spec == nullptr || agent != slow) return false;
               if (was_given(other, spec->spec)) agents_->vanish(slow);
               return ++answered > 2;
             });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "warning: lost agent slow (process 0): "));
  EXPECT_TRUE(has(result.err, " of its specs go to others"));
  const auto trials = sandbox_.trials("run.jsonl");
  EXPECT_EQ(trials.size(), 12u);
  for (const wire::TrialRecord& record : trials) EXPECT_EQ(record.trial.measurement()->scaled, 1);
}

TEST_F(Talk, FinalsAreHeldByOneAgentAndBeginAgainIfItIsLost) {
  start(2);
  add("one");
  add("two");
  std::optional<FakeAgents::Number> lost;
  const Result result = finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); },
                               [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
                                 if (!std::holds_alternative<wire::FinalsOrder>(order) || lost) return false;
                                 agents_->vanish(*(lost = agent));
                                 return true;
                               });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "the finals begin again on another agent"));
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n"));
  EXPECT_TRUE(has(result.out, "rows were timed in turns"));
}

// Without that it would end one agent after the other.
TEST_F(Talk, ASpecThatRanOnTwoLostAgentsFails) {
  start(3, {"--no-finals"});
  for (const char* host : {"one", "two", "three"}) add(host);
  const Result result = finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); },
                               [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
                                 const auto* spec = std::get_if<wire::SpecOrder>(&order);
                                 if (spec == nullptr || spec->spec.mesh_idx != 7) return false;
                                 agents_->report(agent, wire::StartedReport{spec->ticket, 0});
                                 agents_->vanish(agent);
                                 return true;
                               });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "the agents that had it were lost while they did: "));
  EXPECT_TRUE(has(result.out, "Number of valid specs: 12\n11 of 12 measured\n"));
}

TEST_F(Talk, MachinesThatDifferAreRefused) {
  start(2);
  add("one");
  machine_.device.name = "another machine";
  add("two");
  const Result result = finish([](FakeAgents::Number, const Spec&) { return 1.0; });
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "the machines differ, and their times cannot be compared: the device of "));
  EXPECT_TRUE(has(result.err, "another machine"));
}

TEST_F(Talk, AnotherVersionIsSentAway) {
  start(1, {"--no-finals"});
  hello_.protocol = wire::kAgentProtocol + 1;
  const FakeAgents::Number other = add("one");
  hello_.protocol = wire::kAgentProtocol;
  add("one");
  const Result result = finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(agents_->unwelcome(other), "it is another version of tune (its protocol is "));
  EXPECT_TRUE(has(result.err, "warning: refused one (process "));
}

TEST_F(Talk, WhatIsNoAgentIsSentAway) {
  start(1, {"--no-finals"});
  platform::FrameHub stranger(60s);
  std::istringstream said(sandbox_.read("started"));
  const std::string text = sandbox_.read("started");
  const auto port = static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
  stranger.send(stranger.connect("127.0.0.1", port, 5s), "GET / HTTP/1.1");
  add("one");
  const Result result = finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "it is no agent of tune"));
}

TEST_F(Talk, AnAgentBeyondThoseThatWereAskedForIsSentAway) {
  start(1, {"--no-finals"});
  add("one");
  std::optional<FakeAgents::Number> late;
  const Result result = finish([&](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); },
                               [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
                                 if (!late && std::holds_alternative<wire::SpecOrder>(order)) late = add("late");
                                 if (late && agent == *late) agents_->vanish(agent);
                                 return late && agent == *late;
                               });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(
      has(result.err, "warning: refused late (process 0): it is late: this run has had its 1 agents (--agents)"));
  EXPECT_TRUE(has(result.out, "Number of valid specs: 12\n"));
}

TEST_F(Talk, AnAgentWhoseConnectionLivesButThatSaysNothingIsLost) {
  start(2, {"--no-finals", "--timeout-build", "0.5", "--agent-timeout", "2"});
  const FakeAgents::Number mute = add("mute");
  const FakeAgents::Number other = add("other");
  const auto silent = [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
    return agent == mute && std::holds_alternative<wire::SpecOrder>(order);
  };
  while (!run_->ended()) {
    agents_->report(other, wire::UsageReport{});  // as agents do that have nothing else to say
    if (!agents_->serve(
            platform::FrameHub::Clock::now() + 20ms,
            [](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); }, silent))
      sandbox_.write("over", "");
  }
  const Result result = run_->wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "lost agent mute (process 0): its connection lives, but it has said nothing for 12.5 s"));
  EXPECT_TRUE(has(result.out, "Number of valid specs: 12\n"));
}

TEST_F(Talk, StrangersDoNotHoldARunThatWaitsForItsAgents) {
  start(1, {"--agents-within", "1"});
  const std::string text = sandbox_.read("started");
  const auto port = static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
  const auto end = platform::FrameHub::Clock::now() + 30s;
  while (!run_->ended() && platform::FrameHub::Clock::now() < end) {
    const platform::Descriptor stranger = connect_to(port);  // none: it has just ended
    stranger.write(*platform::FrameHub::frame("GET / HTTP/1.1"));
  }
  EXPECT_TRUE(run_->ended());
  sandbox_.write("over", "");
  const Result result = run_->wait();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "1 of 1 agents did not start: they had 1 s to connect"));
  EXPECT_TRUE(has(result.err, "refused more, which are not listed"));
}

TEST_F(Talk, AHostsNameCannotBeginALineOfTheLog) {
  start(1, {"--no-finals"});
  hello_.protocol = wire::kAgentProtocol + 1;
  add("n1\n::error file=a::forged\ntune: error: forged");
  hello_.protocol = wire::kAgentProtocol;
  add("n2\n::error::forged");
  const Result result = finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); },
                               [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
                                 if (agent != 1 || !std::holds_alternative<wire::SpecOrder>(order)) return false;
                                 agents_->report(agent, wire::Said{"news\n::error::forged"});
                                 agents_->report(agent, wire::Unable{4, "broken\n::error::forged"});
                                 return true;
                               });
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_TRUE(has(result.err, "refused n1\\n::error file=a::forged\\ntune: error: forged (process"));
  EXPECT_EQ(result.err.find("\n::error"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("\ntune: error: forged"), std::string::npos) << result.err;
}

TEST_F(Talk, AnAgentThatCannotGoOnSaysWhyAndOthersDoItsSpecs) {
  start(2, {"--no-finals"});
  const FakeAgents::Number full = add("full");
  add("other");
  const Result result =
      finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); },
             [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
               if (agent != full || !std::holds_alternative<wire::SpecOrder>(order)) return false;
               agents_->report(agent, wire::Unable{4, "cannot write to the build store: No space left on device"});
               return true;
             });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "warning: lost agent full (process 0): cannot write to the build store: No space left"));
  EXPECT_TRUE(has(result.out, "Number of valid specs: 12\n"));
}

TEST_F(Talk, TheTimeThatAgentsSpentIsAddedUp) {
  start(2, {"--no-finals"});
  add("one");
  add("other");
  const Result result = finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "time spent: programs 18.0 s, 2 devices idle 1.0 s; "));
}

TEST_F(Talk, ADisagreementOfSharedProcessesIsRememberedAndEndsTheSharingOfAll) {
  start(2, {"--no-finals"});
  const FakeAgents::Number first = add("first"), second = add("second");
  bool told = false, stopped = false;
  const Result result =
      finish([](FakeAgents::Number, const Spec& spec) { return seconds_of(spec); },
             [&](FakeAgents::Number agent, const wire::AgentOrder& order) {
               if (agent == first && std::holds_alternative<wire::SpecOrder>(order) && !std::exchange(told, true))
                 agents_->report(first, wire::Distrust{"spec 0 took 1 ms and then 2 ms"});
               stopped = stopped || (agent == second && std::holds_alternative<wire::StopSharing>(order));
               return false;
             });
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(has(sandbox_.read("run.jsonl"), "\"record\":\"distrust\",\"why\":\"spec 0 took 1 ms and then 2 ms\""));
}

TEST_F(Talk, AnAgentObeysItsDriverAlone) {
  platform::FrameHub stranger(60s);
  const std::uint16_t port = stranger.listen("127.0.0.1", 0);
  sandbox_.environment["TUNE_AGENT_TOKEN"] = "0123456789abcdef";
  Background agent(sandbox_, {"agent", "--connect", "127.0.0.1:" + std::to_string(port)});
  bool answered = false;
  while (const auto event = stranger.wait(platform::FrameHub::Clock::now() + 10s)) {
    const auto* arrived = std::get_if<platform::FrameHub::Arrived>(&*event);
    if (arrived == nullptr) {
      if (std::holds_alternative<platform::FrameHub::Closed>(*event)) break;
      continue;
    }
    if (std::exchange(answered, true)) continue;
    EXPECT_FALSE(has(arrived->text, "89abcdef")) << "it keeps the driver's half to itself";
    stranger.send(arrived->id, wire::encode_order(wire::Welcome{10, "01234567"}));
  }
  const Result result = agent.wait();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "is not the driver of this agent: it does not have the token of the run")) << result.err;
}

}  // namespace
}  // namespace tune::cli::cli_agent_talk_test
