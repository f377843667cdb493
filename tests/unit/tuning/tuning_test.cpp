#include "tuning/tuning.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "exec/device/measure_device.h"
#include "exec/process/runner.h"
#include "search/strategy.h"
#include "support/tuning_folder.h"
#include "tuning/contenders.h"
#include "tuning/grid.h"

namespace tune::tuning_test {
namespace {

using Texts = std::vector<std::string>;
using Time = report::Progress::Time;

Spec spec(std::int64_t t) { return {t - 1, {{"T", Value(t), false}}}; }

Trial timed(std::int64_t t, double seconds) {
  Measurement measurement;
  measurement.timing.median = seconds;
  return {spec(t), std::move(measurement), 0, false, seconds};
}

/// Spec T takes T seconds of the test's clock. One of them may end the run.
class CountingRunner : public exec::Runner {
 public:
  explicit CountingRunner(Time& clock) : clock_(&clock) {}
  int free_slots() const override { return trial_ ? 0 : 1; }
  void start(const Spec& spec) override {
    const auto t = std::get<std::int64_t>(*spec.find("T"));
    if (t == ends_run_at) throw Error(ExitCode::environment, "the machine is gone");
    *clock_ += std::chrono::seconds(t);
    trial_ = timed(t, static_cast<double>(t));
  }
  std::optional<Trial> wait(Clock::time_point) override { return std::exchange(trial_, std::nullopt); }
  void set_best(const Trial&, double, double) override {}
  Activity activity() const override { return {}; }

  std::int64_t ends_run_at = 0;

 private:
  Time* clock_;
  std::optional<Trial> trial_;
};

/// A tuning of three specs, on a clock of its own.
class TuningTest : public testing::Test {
 protected:
  TuningTest() { results_.tuned = true; }

  results::Results sweep() {
    recording::Journal journal(folder_.path() / "journal.jsonl");
    tuning::Tuner tuner(objective_, runner_, progress_, {}, [this] { return clock_; });
    const tuning::JobEnd end = tuning::run_job(journal, [&] { tuner.sweep(strategy_); });
    tuning::take_trials(tuner, end, std::chrono::duration<double>(clock_ - Time()).count(), outcome_);
    end.rethrow();
    return {results_, loaded_, objective_, outcome_};
  }

  TuningFolder folder_;
  config::Loaded loaded_ = load_text(folder_, program_file("{T: [3, 1, 2]}"));
  Objective objective_{loaded_.plan};
  Time clock_{};
  CountingRunner runner_{clock_};
  std::ostringstream screen_;
  report::Progress progress_{screen_, {}, 3, clock_};
  search::Listed strategy_{{spec(3), spec(1), spec(2)}};
  results::ResultsRules results_;
  results::TuningOutcome outcome_;
};

TEST_F(TuningTest, TakesItsTimeFromTheClockThatItIsGiven) {
  const results::Results results = sweep();
  EXPECT_EQ(outcome_.elapsed_seconds, 6);
  EXPECT_EQ(results.winner(), std::pair(1.0, std::int64_t{0}));
}

TEST_F(TuningTest, HasOneTimeOfASpecThatLeftTheFinals) {
  outcome_.finals.state = results::HeldFinals{{{{{spec(1)}, {{1, {1}}, {2, {2}}, {3, {2}}}}, {{spec(2)}, {{1, {3}}}}}}};
  const results::Results results = sweep();
  const Ranked& gone = results.summary().ranking.rows.at(2);
  EXPECT_DOUBLE_EQ(gone.finals_result->time.seconds, 6);
  EXPECT_DOUBLE_EQ(gone.objective, 6);
}

TEST_F(TuningTest, ThatEndsEarlyNotesThatItsJournalContinuesIt) {
  runner_.ends_run_at = 1;
  EXPECT_EQ(folder_.complaint([&] { sweep(); }), "the machine is gone");
  EXPECT_EQ(outcome_.trials.size(), 1u);
  EXPECT_EQ(outcome_.notes.texts(), Texts{"this run ended early; the same command continues it"});
}

TEST_F(TuningTest, WhoseFinalsWereInterruptedHasACompleteSweep) {
  outcome_.finals.interrupted = true;
  runner_.ends_run_at = 1;
  EXPECT_EQ(folder_.complaint([&] { sweep(); }), "the machine is gone");
  EXPECT_FALSE(outcome_.ended_early);
  EXPECT_EQ(outcome_.notes.texts(), Texts());
}

// What may be a kernel's doing is left without a record, so that the next run suspects the spec that ran.
TEST(JobEnd, IsNotedUnlessAKernelMayHaveCausedIt) {
  TuningFolder folder;
  int count = 0;
  const auto ends = [&](const std::function<void()>& work, bool complete, bool by_error) {
    const std::filesystem::path file = folder.path() / fmt::format("{}.jsonl", ++count);
    {
      recording::Journal journal(file);
      journal.append(wire::StartedRecord{"spec", 0, 0});
      const tuning::JobEnd end = tuning::run_job(journal, work);
      EXPECT_EQ(end.complete(), complete);
      EXPECT_EQ(end.by_error, by_error);
    }
    return recording::Journal(file).crashes_during("spec");
  };
  EXPECT_EQ(ends([] {}, true, false), 0);
  EXPECT_EQ(ends([] { throw Error(ExitCode::environment, "x"); }, false, true), 0);
  EXPECT_EQ(ends([] { throw exec::Interrupted{SIGINT}; }, false, false), 0);
  EXPECT_EQ(ends([] { throw exec::Interrupted{SIGTERM}; }, false, false), 1);
  EXPECT_EQ(ends([] { throw exec::DeviceLost(ExitCode::environment, "gone"); }, false, true), 1);
}

TEST_F(TuningTest, IsUndecidedWithoutFinalsWhichCountsOnlyIfSomethingWasAsked) {
  results_.judged = true;
  const results::Results unasked = sweep();
  EXPECT_EQ(unasked.verdict()->decision, Decision::undecided);
  EXPECT_EQ(unasked.code(), ExitCode::ok);
  results_.demands.accuracy = 0.5;
  EXPECT_EQ(results::Results(results_, loaded_, objective_, outcome_).code(), ExitCode::undecided);
}

TEST(ExitCodes, OfSeveralTheWorstCounts) {
  EXPECT_EQ(worse(ExitCode::undecided, ExitCode::none_valid), ExitCode::none_valid);
  EXPECT_EQ(worse(ExitCode::check_failed, ExitCode::undecided), ExitCode::check_failed);
  EXPECT_EQ(worse(ExitCode::check_failed, ExitCode::environment), ExitCode::environment);
  EXPECT_EQ(worse(ExitCode::undecided, ExitCode::ok), ExitCode::undecided);
}

/// Finalists of three specs that took 1, 1.1 and 1.2 s, and a baseline.
class ContendersTest : public testing::Test {
 protected:
  std::vector<std::int64_t> values(const std::vector<wire::Contender>& contenders) const {
    std::vector<std::int64_t> values;
    for (const wire::Contender& contender : contenders) values.push_back(contender.entrant.spec.mesh_idx + 1);
    return values;
  }
  void cut(double seconds_left, double least_turn = 0) {
    exec::FinalsRules rules;
    rules.least_turn = least_turn;
    tuning::cut_to_time(contenders_, trials_, rules, seconds_left);
  }

  std::vector<Trial> trials_ = {timed(3, 1.2), timed(1, 1), timed(2, 1.1), timed(4, 3)};
  tuning::Contenders contenders_{{{{spec(1)}}, {{spec(2)}}, {{spec(3)}}}, {{entrant_of("vendor")}}};
};

TEST_F(ContendersTest, TodaysConfigurationComesRightBehindTheBestHoweverSlowItIs) {
  TuningFolder folder;
  const config::Loaded loaded = load_text(folder, program_file("{T: [1, 2, 3, 4]}"));
  const Objective objective(loaded.plan);
  EXPECT_EQ(values(tuning::choose_specs(trials_, loaded.plan, objective, {}, 2)), (std::vector<std::int64_t>{1, 2}));
  const std::vector<wire::Contender> chosen = tuning::choose_specs(trials_, loaded.plan, objective, spec(4), 2);
  EXPECT_EQ(values(chosen), (std::vector<std::int64_t>{1, 4, 2}));
  EXPECT_TRUE(chosen[1].entrant.is_default());
}

TEST_F(ContendersTest, WhatADisturbanceMadeSlowIsAFinalist) {
  TuningFolder folder;
  const config::Loaded loaded = load_text(folder, program_file("{T: [1, 2, 3, 4]}"));
  const Objective objective(loaded.plan);
  const auto clean = [&](std::size_t i) -> double& { return std::get<Measurement>(trials_[i].outcome).clean_seconds; };
  const auto chosen = [&] { return values(tuning::choose_specs(trials_, loaded.plan, objective, {}, 1)); };
  clean(1) = 1;
  clean(3) = 1.1;  // it took 3 s, and waited for most of that
  EXPECT_EQ(chosen(), (std::vector<std::int64_t>{1, 2, 4}));
  clean(3) = 1.2;
  EXPECT_EQ(chosen(), (std::vector<std::int64_t>{1, 2})) << "too slow without that, too";
  clean(3) = 0;
  EXPECT_EQ(chosen(), (std::vector<std::int64_t>{1, 2})) << "nothing is known of disturbances";
  clean(3) = 1.1;
  clean(1) = 0.5;
  EXPECT_EQ(chosen(), (std::vector<std::int64_t>{1, 2, 4})) << "the best was disturbed, too, and its own time counts";
}

TEST_F(ContendersTest, WhatMayBeNearTheBestIsAFinalist) {
  TuningFolder folder;
  const config::Loaded loaded = load_text(folder, program_file("{T: [1, 2, 3, 4]}"));
  Timing& disturbed = std::get<Measurement>(trials_[3].outcome).timing;
  disturbed.ci_low = 1.05;
  disturbed.ci_high = 5;
  EXPECT_EQ(values(tuning::choose_specs(trials_, loaded.plan, Objective(loaded.plan), {}, 1)),
            (std::vector<std::int64_t>{1, 4, 2}))
      << "the low end of its interval is";
}

TEST_F(ContendersTest, SixteenTakePartAndOfTheDisturbedEightMore) {
  TuningFolder folder;
  const config::Loaded loaded = load_text(folder, program_file("{T: [1, 2, 3, 4]}"));
  trials_.clear();
  for (int i = 1; i <= 40; ++i) {
    trials_.push_back(timed(i, i <= 20 ? 1 + i * 1e-3 : 2));
    auto& measurement = std::get<Measurement>(trials_.back().outcome);
    measurement.clean_seconds = measurement.timing.median;
  }
  const auto chosen = [&] { return tuning::choose_specs(trials_, loaded.plan, Objective(loaded.plan), {}, 1); };
  EXPECT_EQ(chosen().size(), 16u);
  for (std::size_t i = 20; i < 40; ++i) std::get<Measurement>(trials_[i].outcome).clean_seconds = 1.05;
  EXPECT_EQ(chosen().size(), 24u);
}

TEST_F(ContendersTest, LongKernelsOnAGpuMeetInFinalsThatAreLessWide) {
  TuningFolder folder;
  Plan plan = load_text(folder, program_file("{T: [1, 2, 3, 4]}")).plan;
  const Objective objective(plan);
  EXPECT_EQ(tuning::finals_margin(plan, objective, trials_), 0.15) << "of programs";
  plan.subject = KernelPlan{"", Backend::cuda};
  EXPECT_EQ(tuning::finals_margin(plan, objective, trials_), 0.05);
  plan.measure.state = PowerState::sustained;
  EXPECT_EQ(tuning::finals_margin(plan, objective, trials_), 0.15);
  plan.measure.state = PowerState::burst;
  trials_.push_back(timed(5, 0.9e-3));
  EXPECT_EQ(tuning::finals_margin(plan, objective, trials_), 0.15) << "a short kernel";
}

TEST_F(ContendersTest, TwoSpecsAndTheBaselinesStayWhereThereIsTimeForARound) {
  cut(3.2);
  EXPECT_EQ(values(contenders_.specs), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(contenders_.baselines.size(), 1u);
}

TEST_F(ContendersTest, ATurnTakesAsLongAsItsStateNeeds) {
  cut(3.2, 1.3);
  EXPECT_EQ(contenders_.count(), 2u);
}

TEST_F(ContendersTest, TheBestAndTheBaselinesStayWhereTimeIsShort) {
  cut(2.5);
  EXPECT_EQ(values(contenders_.specs), std::vector<std::int64_t>{1});
  EXPECT_EQ(contenders_.baselines.size(), 1u);
}

TEST_F(ContendersTest, MoreThanTheBestTakePartOnlyIfThereIsTimeForAVerdict) {
  const std::vector<wire::Contender> specs = contenders_.specs;
  cut(21.4);  // four rounds of all
  EXPECT_EQ(values(contenders_.specs), (std::vector<std::int64_t>{1, 2}));
  contenders_.specs = specs;
  cut(21.6);
  EXPECT_EQ(values(contenders_.specs), (std::vector<std::int64_t>{1, 2, 3}));
  contenders_.specs = {{{spec(1)}}, {{spec(3), Entrant::Kind::current_default}}, {{spec(2)}}};
  cut(4.4);
  EXPECT_EQ(values(contenders_.specs), (std::vector<std::int64_t>{1, 3, 2})) << "and today's configuration";
}

TEST_F(ContendersTest, ATurnTakesAsLongAsThreeLaunchesOfTheSweep) {
  for (Trial& trial : trials_) {
    std::get<Measurement>(trial.outcome).timing = {.count = 300, .median = 1e-3};
    trial.measure_seconds *= 100;
  }
  cut(3.2);
  EXPECT_EQ(contenders_.count(), 3u);
  cut(2.5);
  EXPECT_EQ(contenders_.count(), 2u);
}

TEST_F(ContendersTest, ATurnOfACommandIsOneRun) {
  for (Trial& trial : trials_) {
    auto& measurement = std::get<Measurement>(trial.outcome);
    measurement.metrics = {{kUserTime, 900}, {kPeakMemory, 10}};
    measurement.timing.count = 2;
    trial.measure_seconds *= 3;  // one was to warm up
  }
  EXPECT_NEAR(tuning::round_seconds(contenders_, trials_, {}), 4.3, 1e-9);
}

TEST_F(ContendersTest, WhoTakesMoreThanTwiceAsLongIsLeftOut) {
  std::get<Measurement>(trials_[0].outcome).timing.median = 2.1;
  tuning::mark_slow(contenders_, trials_);
  leave_out_slow(contenders_);
  EXPECT_EQ(values(contenders_.specs), (std::vector<std::int64_t>{1, 2}));
  contenders_.specs = {{{spec(1)}}, {{spec(3), Entrant::Kind::current_default}}, {{spec(2)}}};
  tuning::mark_slow(contenders_, trials_);
  leave_out_slow(contenders_);
  EXPECT_EQ(values(contenders_.specs), (std::vector<std::int64_t>{1, 3, 2})) << "today's configuration stays";
  contenders_.specs = {{{spec(1)}}, {{spec(3)}}};
  std::get<Measurement>(trials_[0].outcome).clean_seconds = 1.9;
  tuning::mark_slow(contenders_, trials_);
  leave_out_slow(contenders_);
  EXPECT_EQ(values(contenders_.specs), (std::vector<std::int64_t>{1, 3})) << "it may have waited for others";
}

TEST_F(ContendersTest, OneIsLeftWhereThereIsNoTimeForTwo) {
  cut(-1);
  EXPECT_EQ(contenders_.count(), 1u);
}

TEST_F(ContendersTest, WhoWasFasterInTheSweepThanAllInTheFinalsIsOverlooked) {
  Finals finals;
  for (const wire::Contender& contender : contenders_.specs)
    finals.finalists.push_back({.entrant = contender.entrant, .rounds = {{1, {4.6}}}});
  const auto overlooked = [&](Backend backend = Backend::cuda) {
    const Trial* trial = tuning::overlooked_spec(trials_, finals, backend, {});
    return trial == nullptr ? 0 : trial->spec.mesh_idx + 1;
  };
  EXPECT_EQ(overlooked(), 4) << "3 s are less than two thirds of 4.6 s";
  trials_.push_back(timed(5, 2));
  EXPECT_EQ(overlooked(), 5);
  finals.finalists[1].rounds = {{1, {2.5}}};
  EXPECT_EQ(overlooked(), 0);
  EXPECT_EQ(overlooked(Backend::cpu), 5) << "2 s are less than 2.5 s, and a CPU has no power states";
  finals.finalists[1].rounds = {{1, {1.9}}};
  EXPECT_EQ(overlooked(Backend::cpu), 0);
}

/// A grid of 1.5e6 specs.
class GridTest : public testing::Test {
 protected:
  std::optional<tuning::Grid> examine(const tuning::GridRules& rules) {
    return tuning::examine_grid(rules, loaded_.plan, {}, notes_);
  }

  TuningFolder folder_;
  config::Loaded loaded_ =
      load_text(folder_, program_file("{T: {range: [1, 1500, 1]}, U: {range: [1, 1000, 1]}}", "default: {T: 0}\n"));
  results::Notices notes_;
};

TEST_F(GridTest, OfMoreThanAMillionSpecsNeedsABound) {
  tuning::GridRules rules;
  rules.file = "big.yaml";
  EXPECT_EQ(folder_.complaint([&] { examine(rules); }).substr(0, 60),
            "big.yaml: the space has 1500000 valid specs, more than 10^6;");
  rules.bounded = true;
  EXPECT_EQ(examine(rules)->specs.size(), 1500000);
}

TEST_F(GridTest, IsNotExaminedForOneSpecOfVeryMany) {
  tuning::GridRules rules;
  rules.one_spec = true;
  EXPECT_FALSE(examine(rules));
}

}  // namespace
}  // namespace tune::tuning_test
