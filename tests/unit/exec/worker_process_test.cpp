#include "exec/process/worker_process.h"

#include <gtest/gtest.h>

#include "support/tuning_folder.h"

namespace tune::worker_process_test {
namespace {

using exec::Message;
using exec::Phase;

/// A process that does nothing by itself.
class StillHost : public platform::ProcessHost {
 public:
  bool deadline = false, killed = false;

  Id start(const platform::Command&) override { return 1; }
  void send(Id, std::string_view) override {}
  void set_deadline(Id, std::optional<Clock::duration> from_now) override { deadline = from_now.has_value(); }
  void kill(Id) override { killed = true; }
  std::vector<Id> running() const override { return {}; }
  std::optional<Event> wait(std::optional<Clock::time_point>) override { return std::nullopt; }
  Clock::time_point now() const override { return {}; }
};

std::optional<wire::Command> command_of(Message message) {
  if (message == Message::load) return wire::Load{};
  if (message == Message::go) return wire::Go{.check = wire::Go::Check::no};
  if (message == Message::check) return wire::Go{};
  if (message == Message::check_alone) return wire::Go{.check = wire::Go::Check::alone};
  if (message == Message::next) return wire::Next{};
  if (message == Message::done) return wire::Done{};
  return std::nullopt;
}

wire::Event event_of(Message message) {
  if (message == Message::hello) return wire::Hello{};
  if (message == Message::loaded) return wire::Loaded{};
  if (message == Message::checked) return wire::Checked{};
  if (message == Message::waits) return wire::Checked{.waits = true};
  if (message == Message::measured) return wire::Measured{.timing = {1, 1, 1, 1, 1, 1, 1}, .metrics = {}};
  if (message == Message::built) return wire::Built{"artifact", 1, {}};
  return wire::Referenced{};
}

/// A worker that messages bring from phase to phase.
class Worker {
 public:
  explicit Worker(Phase phase)
      : process_(exec::WorkerProcess::start(
            host_, "worker",
            phase < Phase::starting ? wire::Request(wire::BuildRequest{}) : wire::Request(wire::MeasureRequest{}), {},
            folder_.path())) {
    for (const Message message : way_to(phase)) pass(message);
  }

  void pass(Message message) {
    if (message == Message::reference) return process_.send(wire::ReferenceRequest{});
    const auto command = command_of(message);
    if (command) return process_.send(*command);
    say(event_of(message));
  }
  void say(const wire::Event& event) { process_.handle(platform::ProcessHost::Line{1, wire::encode(event)}); }
  /// Its failure when it now ends with exit code 0; empty if there is none.
  std::string end() {
    process_.handle(platform::ProcessHost::Ended{1, {}, ""});
    return process_.failure() ? process_.failure()->message : "";
  }
  const exec::WorkerProcess& process() const { return process_; }
  const StillHost& host() const { return host_; }

 private:
  static std::vector<Message> way_to(Phase phase) {
    if (phase == Phase::starting || phase == Phase::working) return {};
    for (const exec::Step& step : exec::kSteps) {
      if (step.to != phase || step.from >= phase) continue;
      std::vector<Message> way = way_to(step.from);
      way.push_back(step.message);
      return way;
    }
    throw std::logic_error("no way leads to this phase");
  }

  TuningFolder folder_;
  StillHost host_;
  exec::WorkerProcess process_;
};

const std::set<Phase> kPhases = {Phase::working,        Phase::built,   Phase::serving,   Phase::starting,
                                 Phase::ready,          Phase::loading, Phase::loaded,    Phase::checking,
                                 Phase::checking_alone, Phase::waiting, Phase::measuring, Phase::measured,
                                 Phase::leaving};

// What a worker may say in each phase, whatever the table has.
const std::map<Phase, std::set<Message>> kMaySay = {
    {Phase::working, {Message::built, Message::referenced}},
    {Phase::starting, {Message::hello}},
    {Phase::loading, {Message::loaded}},
    {Phase::checking, {Message::checked, Message::measured}},
    {Phase::checking_alone, {Message::checked, Message::waits, Message::measured}},
    {Phase::measuring, {Message::measured}},
};

TEST(WorkerProcess, GoesFromPhaseToPhaseAsTheTableSays) {
  for (const exec::Step& step : exec::kSteps) {
    SCOPED_TRACE(testing::Message() << int(step.from) << " " << exec::to_text(step.message));
    Worker worker(step.from);
    ASSERT_EQ(worker.process().phase(), step.from);
    worker.pass(step.message);
    EXPECT_EQ(worker.process().phase(), step.to);
    EXPECT_EQ(worker.host().deadline, step.deadline);
    EXPECT_FALSE(worker.host().killed);
  }
}

TEST(WorkerProcess, IsKilledIfItSaysWhatItsPhaseDoesNotHave) {
  for (const Phase phase : kPhases)
    for (const Message message : {Message::hello, Message::loaded, Message::checked, Message::waits, Message::measured,
                                  Message::built, Message::referenced}) {
      SCOPED_TRACE(testing::Message() << int(phase) << " " << exec::to_text(message));
      Worker worker(phase);
      worker.pass(message);
      const auto may_say = kMaySay.find(phase);
      EXPECT_EQ(worker.host().killed, may_say == kMaySay.end() || !may_say->second.contains(message));
      if (!worker.host().killed) continue;
      EXPECT_EQ(worker.process().phase(), phase);
      EXPECT_EQ(worker.end().find("the worker broke the protocol: unexpected '"), 0u);
    }
}

TEST(WorkerProcess, CallsAMessageThatComesTooEarlyByItsName) {
  Worker too_early(Phase::loaded);
  too_early.pass(Message::waits);
  EXPECT_EQ(too_early.end(), "the worker broke the protocol: unexpected 'checked' in stage load");
  Worker waits(Phase::checking);
  waits.pass(Message::waits);
  EXPECT_EQ(waits.end(), "the worker broke the protocol: unexpected 'waits' in stage check");
}

TEST(WorkerProcess, MayFailUntilItHasSaidItsResultAndSaysNothingAfterIt) {
  const std::set<Phase> results = {Phase::built, Phase::serving, Phase::measured, Phase::leaving};
  for (const Phase phase : kPhases) {
    SCOPED_TRACE(int(phase));
    Worker worker(phase);
    worker.say(wire::Failed{Stage::load, "too large"});
    EXPECT_EQ(worker.host().killed, results.contains(phase));
    EXPECT_EQ(worker.process().phase(), phase);
    Worker twice(phase);
    twice.say(wire::Failed{Stage::load, "too large"});
    twice.say(wire::Failed{Stage::load, "too large"});
    EXPECT_TRUE(twice.host().killed);
  }
}

TEST(WorkerProcess, EndsWellOnlyWhereItMayEnd) {
  const std::set<Phase> may_end = {Phase::built, Phase::serving, Phase::leaving};
  for (const Phase phase : kPhases) {
    const std::string failure = Worker(phase).end();
    EXPECT_EQ(failure.empty(), may_end.contains(phase)) << int(phase) << failure;
  }
  EXPECT_EQ(Worker(Phase::measured).end(), "the process ended with exit code 0 before it was told to");
}

TEST(WorkerProcess, IsNotSentWhatItCannotObey) {
  EXPECT_THROW(Worker(Phase::starting).pass(Message::load), std::logic_error);
  EXPECT_THROW(Worker(Phase::loading).pass(Message::go), std::logic_error);
}

}  // namespace
}  // namespace tune::worker_process_test
