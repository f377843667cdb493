#include "exec/device/device_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "exec/device/queue_rules.h"
#include "fakes/fake_host.h"

namespace tune::device_queue_test {
namespace {

constexpr exec::DeviceQueue::Rules kBatches = {.loaded_ahead = 2, .opening_at_once = 2, .batches = true};
constexpr exec::DeviceQueue::Rules kReuse = {.loaded_ahead = 0, .opening_at_once = 1, .reuse = true};

class QueueTest : public testing::Test {
 protected:
  FakeHost& host() { return tuning_.host(); }
  exec::MeasureDevice& device() { return service_->devices().front(); }

  /// What becomes of the specs 1 to `specs`, by their numbers.
  std::map<std::int64_t, exec::DeviceQueue::Result> results_of(exec::DeviceQueue& queue, std::int64_t specs) {
    std::map<std::int64_t, exec::DeviceQueue::Result> results;
    for (std::int64_t next = 1; results.size() < static_cast<std::size_t>(specs);) {
      queue.advance({}, [](std::int64_t) {});
      for (; next <= specs && queue.has_room() && queue.make_way_for(false); ++next)
        queue.start({next, tuning_.requests().measure(tuning_.spec(next)), false});
      if (const auto event = host().wait(host().now() + std::chrono::seconds(1))) queue.handle(*event);
      while (auto result = queue.take_result()) results.emplace(result->job.ticket, std::move(*result));
    }
    return results;
  }

  FakeTuning tuning_{10};
  std::unique_ptr<exec::MeasureService> service_ = tuning_.service();
};

const Failure* failure(const exec::DeviceQueue::Result& result) { return std::get_if<Failure>(&result.outcome); }

using State = exec::SlotState;

TEST(SlotState, FollowsFromThePhaseOfTheProcessAndItsJob) {
  using exec::Phase;
  struct Row {
    Phase phase;
    State idle, first_job, another_job;
  };
  // What cannot be without a job is said as with one.
  constexpr std::array<Row, 10> kRows = {{
      {Phase::starting, State::opening, State::opening, State::loading},
      {Phase::ready, State::opening, State::opening, State::loading},
      {Phase::loading, State::opening, State::opening, State::loading},
      {Phase::loaded, State::loaded, State::loaded, State::loaded},
      {Phase::checking, State::launched, State::launched, State::launched},
      {Phase::checking_alone, State::launched, State::launched, State::launched},
      {Phase::waiting, State::checked, State::checked, State::checked},
      {Phase::measuring, State::launched, State::launched, State::launched},
      {Phase::measured, State::idle, State::measured, State::measured},
      {Phase::leaving, State::leaving, State::finishing, State::finishing},
  }};
  for (const Row& row : kRows) {
    EXPECT_EQ(exec::slot_state(row.phase, false, false), row.idle) << int(row.phase);
    EXPECT_EQ(exec::slot_state(row.phase, true, false), row.first_job) << int(row.phase);
    EXPECT_EQ(exec::slot_state(row.phase, true, true), row.another_job) << int(row.phase);
  }
}

// A queue sends `next` only to a process without a job, which has one after it.
TEST(SlotState, MessagesLeadOnlyWhereTheListOfStatesSays) {
  std::set<std::pair<State, State>> moves;
  for (const exec::Step& step : exec::kSteps) {
    if (step.from < exec::Phase::starting) continue;
    for (const bool has_job : {false, true})
      for (const bool used : {false, true}) {
        const bool is_next = step.message == exec::Message::next;
        if (is_next ? has_job || step.from != exec::Phase::measured : !has_job && step.from < exec::Phase::measured)
          continue;
        const State from = slot_state(step.from, has_job, used);
        const State to = slot_state(step.to, has_job || is_next, used || is_next);
        if (from != to) moves.emplace(from, to);
      }
  }
  moves.erase({State::idle, State::launched});      // a queue launches nothing without a job,
  moves.erase({State::measured, State::launched});  // and no job twice
  EXPECT_EQ(moves, (std::set<std::pair<State, State>>{{State::opening, State::loaded},
                                                      {State::loading, State::loaded},
                                                      {State::loaded, State::launched},
                                                      {State::loaded, State::finishing},
                                                      {State::launched, State::checked},
                                                      {State::launched, State::measured},
                                                      {State::checked, State::launched},
                                                      {State::measured, State::finishing},
                                                      {State::idle, State::loading},
                                                      {State::idle, State::leaving}}));
}

TEST(SlotState, SaysWhatDisturbsOthers) {
  std::set<State> disturb;
  for (int i = 0; i <= int(State::leaving); ++i)
    if (opens_or_closes(State(i))) disturb.insert(State(i));
  EXPECT_EQ(disturb, (std::set<State>{State::opening, State::finishing, State::leaving}));
}

TEST_F(QueueTest, NothingIsTimedWhileAnotherProcessOpensOrClosesTheDevice) {
  host().behave = [](const FakeWorker& worker) {
    FakeConduct conduct;
    conduct.open = FakeConduct::Duration(5 + 7 * (worker.spec % 3));
    conduct.close = FakeConduct::Duration(3 + 11 * (worker.spec % 4));
    return conduct;
  };
  exec::DeviceQueue queue(device(), kBatches);
  for (const auto& [spec, result] : results_of(queue, 10)) EXPECT_EQ(failure(result), nullptr) << spec;
  EXPECT_EQ(host().disturbed_times(), 0);
  EXPECT_EQ(std::ranges::count(host().intervals, FakeHost::Interval::What::times, &FakeHost::Interval::what), 10);
}

TEST_F(QueueTest, WithoutBatchesEachSpecWaitsForTheOthersToOpen) {
  exec::DeviceQueue queue(device(), {.loaded_ahead = 2, .opening_at_once = 2, .batches = false});
  results_of(queue, 10);
  EXPECT_EQ(host().disturbed_times(), 0);
}

TEST_F(QueueTest, ASlotThatEndsBetweenItsCheckAndItsLaunchFailsAlone) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.ends_after_check = worker.spec == 2}; };
  exec::DeviceQueue queue(device(), kBatches);
  const auto results = results_of(queue, 5);
  ASSERT_NE(failure(results.at(2)), nullptr);
  EXPECT_EQ(failure(results.at(2))->cause, Cause::crashed);
  EXPECT_EQ(failure(results.at(2))->stage, Stage::measure);
  for (const std::int64_t spec : {1, 3, 4, 5}) EXPECT_EQ(failure(results.at(spec)), nullptr) << spec;
  EXPECT_FALSE(queue.launched());
}

TEST_F(QueueTest, AProcessThatEndsWhileItIsTimedHasHadTheDeviceUntilThen) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.ends_while_timed = worker.spec == 2}; };
  exec::DeviceQueue queue(device(), {});
  const auto results = results_of(queue, 3);
  ASSERT_NE(failure(results.at(2)), nullptr);
  EXPECT_DOUBLE_EQ(results.at(2).device_seconds, 0.002 + 0.005);
  EXPECT_DOUBLE_EQ(queue.busy_seconds(), 3 * (0.002 + 0.005));
}

TEST_F(QueueTest, AReusedProcessThatFailsIsReplacedAndSaysThatItWasReused) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.fails = worker.spec == 3}; };
  exec::DeviceQueue queue(device(), kReuse);
  const auto results = results_of(queue, 4);
  EXPECT_FALSE(results.at(1).reused);
  EXPECT_TRUE(results.at(2).reused);
  EXPECT_TRUE(std::get<Measurement>(results.at(2).outcome).shared);
  ASSERT_NE(failure(results.at(3)), nullptr);
  EXPECT_TRUE(results.at(3).reused);
  EXPECT_EQ(failure(results.at(4)), nullptr);
  EXPECT_FALSE(results.at(4).reused) << "in a new process";
  EXPECT_EQ(host().processes_of, (std::map<std::int64_t, int>{{1, 1}, {4, 1}}));
}

TEST_F(QueueTest, TheDeviceIsLostAfterThreeRefusalsInARow) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.finds_no_device = worker.spec != 3}; };
  exec::DeviceQueue queue(device(), {.exits_disturb = true});
  EXPECT_THROW(results_of(queue, 6), exec::DeviceLost);
  EXPECT_EQ(host().processes_of.size(), 6u) << "the third process could open it, and began the count anew";
}

TEST_F(QueueTest, ADeviceIsBusyWhileSomethingIsCheckedOrTimed) {
  exec::DeviceQueue queue(device(), {});
  const auto results = results_of(queue, 3);
  EXPECT_DOUBLE_EQ(queue.busy_seconds(), 3 * (0.002 + 0.005));
  EXPECT_DOUBLE_EQ(results.at(2).device_seconds, 0.002 + 0.005);
  EXPECT_DOUBLE_EQ(queue.stage_times().of(Stage::load), 3 * 0.010);
  EXPECT_DOUBLE_EQ(queue.stage_times().of(Stage::measure), 3 * 0.005);
}

TEST_F(QueueTest, WhatIsAbandonedLeavesTheDeviceToTheNext) {
  exec::DeviceQueue queue(device(), {});
  ASSERT_TRUE(queue.has_room() && queue.make_way_for(false));
  queue.start({7, tuning_.requests().measure(tuning_.spec(7)), false});
  EXPECT_FALSE(queue.has_room());
  queue.abandon(7);
  EXPECT_TRUE(queue.has_room());
  EXPECT_EQ(results_of(queue, 2).size(), 2u);
  EXPECT_FALSE(queue.take_result());
}

TEST_F(QueueTest, TheRulesOfAGpuAreManyProcessesInBatchesOrAFewThatAreReused) {
  const exec::DeviceQueue::Rules own = exec::queue_rules(tuning_.requests(), {}, false, 0);
  EXPECT_TRUE(own.batches && !own.reuse && !own.exits_disturb && own.loaded_ahead > 1);
  const exec::DeviceQueue::Rules shared = exec::queue_rules(tuning_.requests(), {}, true, 0);
  EXPECT_TRUE(!shared.batches && shared.reuse && shared.loaded_ahead == 1);
  exec::ChosenDevice exclusive;
  exclusive.one_process = true;
  const exec::DeviceQueue::Rules alone = exec::queue_rules(tuning_.requests(), exclusive, false, 0);
  EXPECT_TRUE(!alone.batches && alone.exits_disturb && alone.loaded_ahead == 0);
  const FakeTuning cpu(1, Backend::cpu);
  EXPECT_EQ(exec::queue_rules(cpu.requests(), {}, false, 0).loaded_ahead, 0) << "the cores are the device";
}

}  // namespace
}  // namespace tune::device_queue_test
