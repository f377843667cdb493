#include "flow/second_looks.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <sstream>

#include "search/listed.h"

namespace tune::second_looks_test {
namespace {

using Clock = std::chrono::steady_clock;

/// A time of all launches, and what they would have taken without what they waited for others.
struct Look {
  double seconds = 0;
  double clean = 0;  ///< 0: not known
  double clock_mhz = 0;
  bool fails = false;
};

Outcome outcome_of(const Look& look) {
  if (look.fails) return Failure{Stage::check, Cause::reported, "the result is wrong", {}, {}};
  Measurement measurement;
  measurement.timing = {7, look.seconds, look.seconds, look.seconds, look.seconds, look.seconds, look.seconds};
  measurement.clean_seconds = look.clean;
  if (look.clock_mhz > 0) measurement.metrics["clock_mhz"] = look.clock_mhz;
  return measurement;
}

/// Spec i is measured as its looks say, one after the other.
class ScriptedRunner : public exec::Runner {
 public:
  explicit ScriptedRunner(std::vector<std::deque<Look>> looks) : looks_(std::move(looks)) {}
  int free_slots() const override { return 100; }
  void start(const Spec& spec) override {
    std::deque<Look>& looks = looks_.at(static_cast<std::size_t>(spec.mesh_idx));
    out_.push_back({spec, outcome_of(looks.front()), 0, false, measure_seconds});
    if (looks.size() > 1) looks.pop_front();
    ++started;
  }
  std::optional<Trial> wait(Clock::time_point) override {
    Trial trial = std::move(out_.front());
    out_.pop_front();
    return trial;
  }
  void set_best(const Trial&, double, double) override {}
  Activity activity() const override { return {}; }

  double measure_seconds = 0.1;
  int started = 0;

 private:
  std::vector<std::deque<Look>> looks_;
  std::deque<Trial> out_;
};

class SecondLooksTest : public testing::Test {
 protected:
  flow::SecondLooks look(std::vector<std::deque<Look>> looks, double measure_seconds = 0.1) {
    std::deque<Spec> specs;
    for (std::size_t i = 0; i < looks.size(); ++i) specs.push_back({static_cast<std::int64_t>(i), {}});
    runner_ = std::make_unique<ScriptedRunner>(std::move(looks));
    runner_->measure_seconds = measure_seconds;
    tuner_ = std::make_unique<Tuner>(objective_, nullptr, *runner_, nullptr, progress_, TunerRules(),
                                     [] { return Clock::now(); });
    search::Listed strategy(std::move(specs));
    tuner_->sweep(strategy);
    runner_->started = 0;
    return flow::look_again(*tuner_, plan_, objective_);
  }
  double seconds_of(std::size_t spec) const { return tuner_->trials().at(spec).measurement()->timing.median; }

  Plan plan_;
  Objective objective_{plan_};
  std::ostringstream screen_;
  report::Progress progress_{screen_, {}, 20, Clock::now()};
  std::unique_ptr<ScriptedRunner> runner_;
  std::unique_ptr<Tuner> tuner_;
};

TEST_F(SecondLooksTest, WhatWasDisturbedAndMayBeTheBestIsTimedOnceMore) {
  const flow::SecondLooks looks = look({{{1, 1}}, {{2, 0.9}, {0.9, 0.9}}, {{2, 2}}, {{2, 1.2}}, {{3, 0}}});
  EXPECT_EQ(runner_->started, 1) << "the others are slow, would be slow alone, or nothing is known of them";
  EXPECT_EQ(seconds_of(1), 0.9);
  EXPECT_EQ(looks.looked, 1);
  EXPECT_EQ(looks.came_back, 1);
  EXPECT_EQ(looks.left, 0);
}

TEST_F(SecondLooksTest, TheFasterLookCounts) {
  const flow::SecondLooks looks = look({{{1, 1}}, {{1.5, 1.1}, {4, 1.05}}});
  EXPECT_EQ(seconds_of(1), 1.5);
  EXPECT_EQ(looks.looked, 1);
  EXPECT_EQ(looks.came_back, 0);
  EXPECT_EQ(looks.left, 1) << "both were disturbed";
}

TEST_F(SecondLooksTest, AnUndisturbedLookSettlesItEvenIfItIsSlower) {
  const flow::SecondLooks looks = look({{{1, 1}}, {{1.5, 1.1}, {1.6, 1.6}}});
  EXPECT_EQ(seconds_of(1), 1.5);
  EXPECT_EQ(looks.left, 0);
}

TEST_F(SecondLooksTest, ALookThatFailsChangesNothing) {
  look({{{1, 1}}, {{1.5, 1.1}, {.fails = true}}});
  EXPECT_EQ(seconds_of(1), 1.5);
}

TEST_F(SecondLooksTest, ASecondLookIsTheLast) {
  look({{{1, 1}}, {{1.5, 1.1}, {4, 1.05}}});
  runner_->started = 0;
  const flow::SecondLooks again = flow::look_again(*tuner_, plan_, objective_);
  EXPECT_EQ(runner_->started, 0) << "so that a run that continues finds the same";
  EXPECT_EQ(again.looked, 1);
  EXPECT_EQ(again.left, 1);
}

TEST_F(SecondLooksTest, LastNoLongerThanATwentiethOfTheSweep) {
  std::vector<std::deque<Look>> looks(40, {{2, 2}});
  looks[0] = {{1, 1}};
  for (const std::size_t spec : {10, 20, 30}) looks[spec] = {{2, 1.1}, {1.1, 1.1}};
  looks[20].front().clean = 1.05;
  const flow::SecondLooks done = look(looks, 1);
  EXPECT_EQ(done.looked, 2) << "of 40 s";
  EXPECT_EQ(seconds_of(20), 1.1) << "the one that may be the fastest is the first";
  EXPECT_EQ(done.left, 1);
}

TEST_F(SecondLooksTest, AGpusLowerClockIsADisturbance) {
  const flow::SecondLooks looks = look({{{1, 1, 1980}}, {{1.4, 1.4, 1410}, {1.01, 1.01, 1980}}, {{1.4, 1.4, 1980}}});
  EXPECT_EQ(looks.looked, 1);
  EXPECT_EQ(looks.came_back, 1);
}

TEST_F(SecondLooksTest, WhatDisturbsAllSpecsAlikeDisturbsNone) {
  look({{{2, 1}}, {{2.4, 1.15}}, {{3, 1.12}}});
  EXPECT_EQ(runner_->started, 1) << "the last one alone was disturbed by more than the best";
}

}  // namespace
}  // namespace tune::second_looks_test
