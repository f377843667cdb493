#include "measuring/measure.h"

#include <gtest/gtest.h>

#include <functional>

namespace tune::measure_test {
namespace {

/// A kernel whose launches take what the test says, on a clock that nothing else moves.
class SamplerTest : public testing::Test {
 protected:
  Timing run(const wire::Go& go, double first, std::function<double(int)> seconds) {
    launches_ = 0;
    worker::Sampler sampler(
        rules_, go,
        [this, seconds] {
          const double time = seconds(launches_++);
          clock_ += time;
          return time;
        },
        [this] { return clock_; }, first_);
    return sampler.run(first);
  }
  Timing run(double best, double first, std::function<double(int)> seconds) {
    return run(wire::Go{.best_seconds = best}, first, std::move(seconds));
  }

  MeasureRules rules_;
  worker::Sampler::First first_;
  double clock_ = 100;
  int launches_ = 0;
};

TEST_F(SamplerTest, ASteadyKernelIsLaunchedTheLeastAllowed) {
  const Timing timing = run(0, 0.01, [](int) { return 0.01; });
  EXPECT_EQ(timing.count, rules_.min_launches);
  EXPECT_EQ(launches_, rules_.warmup - 1 + rules_.min_launches) << "the checked launch warms up too";
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, WarmUpIsNotCounted) {
  const Timing checked = run(0, 0.01, [this](int i) { return i < rules_.warmup - 1 ? 9.0 : 0.01; });
  EXPECT_EQ(checked.mean, 0.01);
  const Timing unchecked = run(0, 0, [this](int i) { return i < rules_.warmup ? 9.0 : 0.01; });
  EXPECT_EQ(unchecked.mean, 0.01);
}

TEST_F(SamplerTest, ANoisyKernelIsLaunchedUntilTheMedianIsKnown) {
  // Evenly spread over 10 %: the interval of the median narrows with the root of the count.
  const Timing timing = run(0, 0.001, [](int i) { return 0.001 * (1 + 0.1 * (i * 37 % 100) / 100); });
  EXPECT_GT(timing.count, 3 * rules_.min_launches);
  EXPECT_LE(timing.ci_high - timing.median, 0.01 * timing.median);
  EXPECT_LE(timing.median - timing.ci_low, 0.01 * timing.median);
}

// 32 ns are 1.1 % of its time, and with a clock of such steps no further launch would tell more.
TEST_F(SamplerTest, AnIntervalOfOneStepOfTheClockIsNarrowEnough) {
  const auto launch = [](int i) { return i * 7 % 9 < 4 ? 2.88e-6 : 2.912e-6; };
  EXPECT_GT(run(0, 2.88e-6, launch).count, rules_.min_launches);
  first_.step = 33e-9;
  EXPECT_EQ(run(0, 2.88e-6, launch).count, rules_.min_launches);
}

TEST_F(SamplerTest, ANoisyKernelThatCannotWinIsLaunchedTheLeastAllowed) {
  const Timing timing = run(0.0009, 0.001, [](int i) { return 0.001 * (1 + 0.1 * (i * 37 % 100) / 100); });
  EXPECT_EQ(timing.count, rules_.min_launches);
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, TimeRunsOutBeforePrecision) {
  const Timing timing = run(0, 0.01, [](int i) { return i % 2 == 0 ? 0.01 : 0.02; });
  EXPECT_GE(timing.count, 60);
  EXPECT_LE(timing.count, 70);
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, TimeRunsOutBeforeTheLeastLaunches) {
  const Timing timing = run(0, 0.6, [](int) { return 0.6; });
  EXPECT_EQ(timing.count, 2);
  EXPECT_FALSE(timing.stopped_early) << "it was timed as long as asked for";
}

TEST_F(SamplerTest, AFirstLaunchOfMoreThanFourTimesTheBestIsTheOnlyOne) {
  const Timing timing = run(0.1, 0.41, [](int) { return 0.41; });
  EXPECT_EQ(launches_, 0);
  EXPECT_EQ(timing.count, 1);
  EXPECT_TRUE(timing.stopped_early);
}

TEST_F(SamplerTest, AShortFirstLaunchIsRepeatedBeforeItCounts) {
  Timing timing = run(0.001, 0.01, [](int) { return 0.001; });
  EXPECT_FALSE(timing.stopped_early) << "the first launch started a thread pool";
  timing = run(0.001, 0.01, [](int i) { return i < 2 ? 0.006 : 0.001; });
  EXPECT_FALSE(timing.stopped_early) << "other processes took the cores for a while";
  timing = run(0.001, 0.01, [](int i) { return i == 2 ? 0.005 : 0.006; });
  EXPECT_EQ(launches_, 4) << "of 20 ms";
  EXPECT_EQ(timing.median, 0.005);
  EXPECT_EQ(timing.count, 1);
  EXPECT_TRUE(timing.stopped_early);
}

TEST_F(SamplerTest, ASlowFirstLaunchMakesThreeDecide) {
  Timing timing = run(0.1, 0.16, [](int) { return 0.17; });
  EXPECT_EQ(timing.count, 3);
  EXPECT_TRUE(timing.stopped_early);
  timing = run(0.1, 0.16, [](int) { return 0.1; });
  EXPECT_EQ(timing.count, rules_.min_launches);
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, ASlowSpecIsTimedNoLongerThanOthers) {
  rules_.max_seconds = 0.15;
  const Timing timing = run(0.1, 0.16, [](int) { return 0.17; });
  EXPECT_EQ(timing.count, 1);
  EXPECT_TRUE(timing.stopped_early);
}

TEST_F(SamplerTest, OfThreeSlowLaunchesTheFastestDecides) {
  // Another process took the cores during two of them.
  const Timing timing = run(0.1, 0.16, [](int launch) { return launch == 1 ? 0.17 : 0.1; });
  EXPECT_FALSE(timing.stopped_early);
  EXPECT_EQ(timing.median, 0.1);
}

TEST_F(SamplerTest, TheCutoffStopsSamplingToo) {
  const Timing timing = run(0.1, 0.1, [this](int i) { return i < rules_.warmup - 1 ? 0.1 : 0.16; });
  EXPECT_EQ(timing.count, 3);
  EXPECT_TRUE(timing.stopped_early);
}

TEST_F(SamplerTest, WithoutACutoffEverySpecIsTimedInFull) {
  rules_.cutoff = 0;
  const Timing timing = run(0.001, 0.1, [](int) { return 0.1; });
  EXPECT_EQ(timing.count, rules_.min_launches);
  EXPECT_FALSE(timing.stopped_early);
}

TEST_F(SamplerTest, AnUncheckedKernelIsCutOffToo) {
  const Timing timing = run(0.1, 0, [](int) { return 1.0; });
  EXPECT_EQ(launches_, 1);
  EXPECT_TRUE(timing.stopped_early);
}

// As on a GPU.
TEST_F(SamplerTest, OnAGpuTwoLaunchesDecideThatLoadedNoCode) {
  first_ = {0, 2, 0.001};
  Timing timing = run(0.01, 0.017, [](int) { return 0.01; });
  EXPECT_EQ(launches_, 0) << "the faster of two is too slow, even without the loading of the code";
  EXPECT_TRUE(timing.stopped_early);
  timing = run(0.001, 0.0016, [](int) { return 0.0017; });
  EXPECT_EQ(timing.count, 2);
  EXPECT_TRUE(timing.stopped_early);
  timing = run(0.001, 0.0016, [](int) { return 0.001; });
  EXPECT_FALSE(timing.stopped_early) << "another program had the device during the first";
  timing = run(0.001, 0.0014, [](int) { return 0.001; });
  EXPECT_FALSE(timing.stopped_early);
  EXPECT_EQ(launches_, rules_.min_launches) << "the others have warmed up";
}

TEST_F(SamplerTest, OnAGpuThreeLaunchesTellThatASpecIsNoFinalist) {
  first_ = {0, 2};
  Timing timing = run(0.001, 0.00125, [](int) { return 0.00125; });
  EXPECT_EQ(timing.count, 3);
  EXPECT_FALSE(timing.stopped_early);
  timing = run(0.001, 0.00125, [](int launch) { return launch == 1 ? 0.0011 : 0.00125; });
  EXPECT_EQ(timing.count, rules_.min_launches) << "one of them was faster";
  first_ = {};
  timing = run(0.001, 0.00125, [](int) { return 0.00125; });
  EXPECT_EQ(timing.count, rules_.min_launches) << "on the CPU, where other processes may have taken the cores";
}

TEST(DecidesAlone, BeyondFourTimesTheBest) {
  const MeasureRules rules;
  EXPECT_TRUE(worker::decides_alone(rules, {.best_seconds = 0.001}, 0.0041));
  EXPECT_FALSE(worker::decides_alone(rules, {.best_seconds = 0.001}, 0.0039));
  EXPECT_FALSE(worker::decides_alone(rules, {}, 1)) << "nothing to be slower than";
}

TEST_F(SamplerTest, AnExactCountIsKeptWhateverTheTimes) {
  const Timing timing =
      run(wire::Go{.launches = 20, .best_seconds = 0.001, .check = wire::Go::Check::no}, 0, [](int) { return 1.0; });
  EXPECT_EQ(timing.count, 20);
  EXPECT_EQ(launches_, 20 + rules_.warmup);
  EXPECT_FALSE(timing.stopped_early);
}

}  // namespace
}  // namespace tune::measure_test
