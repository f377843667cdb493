#include "model/statistics/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tune::stats_test {
namespace {

/// 1, 2, ... count: a value is its own rank.
std::vector<double> ranks(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Stats, MedianOfAnEvenCountIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Stats, IntervalBelowSixValuesIsTheirRange) {
  for (int count = 1; count < 6; ++count) {
    const Interval interval = median_interval(ranks(count));
    EXPECT_EQ(interval.low, 1);
    EXPECT_EQ(interval.high, count);
  }
}

struct RankCase {
  int count;
  double low;
};

/// Ranks of the standard tables of the sign test, two-sided 5 %.
TEST(Stats, IntervalHasTheRanksOfTheSignTest) {
  for (const RankCase expected :
       {RankCase{6, 1}, {8, 1}, {9, 2}, {10, 2}, {12, 3}, {20, 6}, {25, 8}, {50, 18}, {100, 40}}) {
    const Interval interval = median_interval(ranks(expected.count));
    EXPECT_EQ(interval.low, expected.low) << expected.count;
    EXPECT_EQ(interval.high, expected.count + 1 - expected.low) << expected.count;
  }
}

TEST(Stats, IntervalGoesOnSmoothlyWhereTheApproximationTakesOver) {
  const Interval exact = median_interval(ranks(1000));
  const Interval approximate = median_interval(ranks(1001));
  EXPECT_NEAR(exact.low, approximate.low, 1);
  EXPECT_NEAR(exact.high, approximate.high, 2);
  const Interval large = median_interval(ranks(1'000'000));
  EXPECT_EQ(large.low, 499'020);
  EXPECT_EQ(large.high, 500'981);
}

TEST(Stats, IntervalDoesNotDependOnTheOrderOfValues) {
  std::vector<double> values = ranks(20);
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(median_interval(values).low, 6);
}

TEST(Stats, SummaryHoldsEveryFigure) {
  std::vector<double> seconds = ranks(100);
  std::swap(seconds[0], seconds[99]);
  const Timing timing = summarize(seconds, true);
  EXPECT_EQ(timing.count, 100);
  EXPECT_EQ(timing.median, 50.5);
  EXPECT_EQ(timing.min, 1);
  EXPECT_EQ(timing.mean, 50.5);
  EXPECT_EQ(timing.p95, 95);
  EXPECT_EQ(timing.ci_low, 40);
  EXPECT_EQ(timing.ci_high, 61);
  EXPECT_TRUE(timing.stopped_early);
}

TEST(Stats, SummaryOfOneLaunchIsThatLaunch) {
  const double seconds[] = {0.25};
  const Timing timing = summarize(seconds, false);
  EXPECT_EQ(timing.count, 1);
  for (const double figure : {timing.median, timing.min, timing.mean, timing.p95, timing.ci_low, timing.ci_high}) {
    EXPECT_EQ(figure, 0.25);
  }
  EXPECT_FALSE(timing.stopped_early);
}

TEST(Outliers, AreFarAboveTheUpperQuartile) {
  const std::vector<double> seconds = {1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 9.0};
  const Timing timing = summarize(seconds, false);
  EXPECT_EQ(timing.outliers, 1);
  EXPECT_DOUBLE_EQ(timing.kept_median, (1.02 + 1.03) / 2);
  EXPECT_NEAR(timing.kept_mean, 1.025, 1e-12);
  EXPECT_EQ(timing.median, 1.03);
  const std::vector<double> few = {1, 1, 9};
  EXPECT_EQ(summarize(few, false).outliers, 0) << "three launches do not tell";
  EXPECT_NEAR(summarize(few, false).kept_mean, 11.0 / 3, 1e-12);
}

TEST(TimeRules, ChooseWhatStandsForASpec) {
  const std::vector<double> seconds = {1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 9.0};
  const Timing all = summarize(seconds, false);
  const auto typical = [](Timing timing, const TimeRule& rule) {
    choose_time(timing, rule);
    return timing.typical();
  };
  EXPECT_EQ(all.typical(), all.median);
  EXPECT_EQ(typical(all, {}), all.median);
  EXPECT_EQ(typical(all, {Statistic::min, true}), 1.0);
  EXPECT_EQ(typical(all, {Statistic::mean, false}), all.mean);
  EXPECT_EQ(typical(all, {Statistic::mean, true}), all.kept_mean);
  EXPECT_EQ(typical(all, {Statistic::median, true}), all.kept_median);
  Timing older = all;
  older.kept_mean = older.kept_median = 0;
  EXPECT_EQ(typical(older, {Statistic::mean, true}), all.mean) << "an older record does not know more";
}

TEST(TimeRules, HaveNames) {
  EXPECT_EQ(to_text(TimeRule{Statistic::mean, true}), "mean without outliers");
  EXPECT_EQ(to_text(TimeRule{}), "median");
}

TEST(TimeRules, LeaveTheIntervalToTheMedian) {
  Timing timing = summarize(std::vector<double>{1, 2, 3, 4, 5}, false);
  EXPECT_TRUE(known_interval(timing));
  choose_time(timing, {Statistic::min, false});
  EXPECT_FALSE(known_interval(timing));
}

TEST(RankCorrelation, IsOfTheOrderAlone) {
  const std::vector<double> a = {1, 2, 3, 4}, squares = {1, 4, 9, 16}, falling = {4, 3, 2, 1}, same = {5, 5, 5, 5};
  EXPECT_NEAR(rank_correlation(a, squares), 1, 1e-12);
  EXPECT_NEAR(rank_correlation(a, falling), -1, 1e-12);
  EXPECT_EQ(rank_correlation(a, same), 0);
  const std::vector<double> tied = {1, 2, 2, 3};
  EXPECT_NEAR(rank_correlation(a, tied), 0.9486832980505138, 1e-12);
}

}  // namespace
}  // namespace tune::stats_test
