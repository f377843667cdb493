#include "tuning/tuner.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <sstream>

namespace tune::tuner_test {
namespace {

using Clock = std::chrono::steady_clock;

/// Takes any number of specs, and gives them back in the order they came in.
class EagerRunner : public exec::Runner {
 public:
  int free_slots() const override { return 100; }
  void start(const Spec& spec) override { out_.push_back(spec); }
  std::optional<Trial> wait(Clock::time_point) override {
    most_out_ = std::max(most_out_, out_.size());
    Trial trial{out_.front(), Measurement{}};
    out_.pop_front();
    return trial;
  }
  void set_best(const Trial&, double, double) override {}
  Activity activity() const override { return {}; }

  std::size_t most_out() const { return most_out_; }

 private:
  std::deque<Spec> out_;
  std::size_t most_out_ = 0;
};

class Counting : public search::Strategy {
 public:
  std::optional<Spec> ask() override { return asked_ < 20 ? std::optional(Spec{asked_++, {}}) : std::nullopt; }
  void tell(const Trial&) override { ++told_; }
  std::int64_t told() const { return told_; }

 private:
  std::int64_t asked_ = 0, told_ = 0;
};

/// How many specs of 20 were out at once.
std::size_t most_out(tuning::TunerRules rules) {
  const Plan plan;
  const Objective objective(plan);
  EagerRunner runner;
  std::ostringstream screen;
  report::Progress progress(screen, {}, 20, Clock::now());
  Counting strategy;
  tuning::Tuner(objective, runner, progress, rules, [] { return Clock::now(); }).sweep(strategy);
  EXPECT_EQ(strategy.told(), 20);
  return runner.most_out();
}

TEST(Tuner, StartsAsManySpecsAsTheRunnerTakes) { EXPECT_EQ(most_out({}), 20); }

TEST(Tuner, TellsAStrategyThatLearnsBeforeItAsksForMore) {
  tuning::TunerRules rules;
  rules.most_out = 3;
  EXPECT_EQ(most_out(rules), 3);
}

/// Has five specs at first, and fifteen more once it has been told these.
class InTwoSteps : public Counting {
 public:
  std::optional<Spec> ask() override {
    if (asked_ == 5 && told() < 5) return std::nullopt;
    ++asked_;
    return Counting::ask();
  }

 private:
  int asked_ = 0;
};

TEST(Tuner, AsksAStrategyAgainOnceItHasBeenToldMore) {
  const Plan plan;
  const Objective objective(plan);
  EagerRunner runner;
  std::ostringstream screen;
  report::Progress progress(screen, {}, 20, Clock::now());
  InTwoSteps strategy;
  tuning::Tuner(objective, runner, progress, {}, [] { return Clock::now(); }).sweep(strategy);
  EXPECT_EQ(strategy.told(), 20);
}

/// Each spec takes a second, by the clock of the test, after those that came before it.
class OneASecond : public EagerRunner {
 public:
  explicit OneASecond(Clock::time_point& now) : now_(&now) {}
  std::optional<Trial> wait(Clock::time_point until) override {
    *now_ += std::chrono::seconds(1);
    return EagerRunner::wait(until);
  }

 private:
  Clock::time_point* now_;
};

/// How many such specs are tried in a time budget, with up to so many in flight.
std::int64_t tried_in(double time_budget, int most_out) {
  const Plan plan;
  const Objective objective(plan);
  const Clock::time_point start = Clock::now();
  Clock::time_point now = start;
  OneASecond runner(now);
  std::ostringstream screen;
  report::Progress progress(screen, {}, 20, start);
  Counting strategy;
  tuning::TunerRules rules;
  rules.sweep_budget = time_budget;
  rules.most_out = most_out;
  tuning::Tuner(objective, runner, progress, rules, [&now] { return now; }).sweep(strategy);
  return strategy.told();
}

TEST(Tuner, StartsNoSpecThatWouldEndBehindTheTimeBudget) {
  EXPECT_EQ(tried_in(7.5, 1), 7);
  EXPECT_EQ(tried_in(7.5, 3), 7);
}

TEST(Tuner, TriesTwoSpecsHoweverLongTheFirstTakes) { EXPECT_EQ(tried_in(1.5, 1), 2); }

/// A tuner that has swept Counting's 20 specs, at a time that the test decides.
class Repeated : public testing::Test, public exec::RunObserver {
 protected:
  void SetUp() override {
    rules_.sweep_budget = 10;
    tuner_ = std::make_unique<tuning::Tuner>(
        objective_, runner_, progress_, rules_, [this] { return now_; }, *this);
    Counting strategy;
    tuner_->sweep(strategy);
    heard_ = 0;
  }

  void finished(const Trial&) override { ++heard_; }

  Plan plan_;
  Objective objective_{plan_};
  EagerRunner runner_;
  std::ostringstream screen_;
  Clock::time_point now_ = Clock::now();
  report::Progress progress_{screen_, {}, 20, now_};
  tuning::TunerRules rules_;
  std::unique_ptr<tuning::Tuner> tuner_;
  int heard_ = 0;
};

TEST_F(Repeated, TrialsTakeThePlacesOfThoseBefore) {
  for (Trial& trial : tuner_->trials()) trial.outcome = Failure{};
  EXPECT_EQ(tuner_->repeat([](const Trial& trial) { return trial.spec.mesh_idx % 5 == 0; }), 4);
  ASSERT_EQ(tuner_->trials().size(), 20u);
  for (const Trial& trial : tuner_->trials())
    EXPECT_EQ(trial.measurement() != nullptr, trial.spec.mesh_idx % 5 == 0) << trial.spec.mesh_idx;
  EXPECT_EQ(heard_, 4);
}

TEST_F(Repeated, NoneAreOnceTheTimeBudgetIsSpent) {
  now_ += std::chrono::seconds(11);
  EXPECT_EQ(tuner_->repeat([](const Trial&) { return true; }), 0);
  EXPECT_EQ(tuner_->trials().size(), 20u);
}

}  // namespace
}  // namespace tune::tuner_test
