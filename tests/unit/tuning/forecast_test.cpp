#include "tuning/forecast.h"

#include <gtest/gtest.h>

namespace tune::forecast_test {
namespace {

Trial timed(double measure_seconds, double build_seconds = 0) {
  Measurement measurement;
  measurement.build.seconds = build_seconds;
  return {Spec{}, measurement, 0, false, measure_seconds};
}

tuning::Work work(std::int64_t specs) {
  tuning::Work work;
  work.specs = specs;
  work.builds = specs;
  work.in_turn = true;
  return work;
}

TEST(Forecast, NeedsAFewSpecs) {
  tuning::Forecast forecast(work(100));
  for (int i = 0; i < 3; ++i) forecast.add(timed(1));
  forecast.add(timed(0));
  EXPECT_FALSE(forecast.is_ready()) << "what was never timed tells nothing";
  EXPECT_EQ(forecast.answer(), "100 specs, 100 builds; time unknown: the journal knows too few of them");
  forecast.add(timed(1));
  EXPECT_TRUE(forecast.is_ready());
}

TEST(Forecast, AddsBuildsAndTiming) {
  tuning::Forecast forecast(work(1200));
  for (int i = 0; i < 4; ++i) forecast.add(timed(1, 0.5));
  EXPECT_EQ(forecast.text(), "estimate: 30 min = builds 10 min, timing 20 min; from the first 4 specs");
}

TEST(Forecast, HasTheRangeOfWhatItIsFrom) {
  tuning::Work many = work(1000);
  many.in_turn = false;
  many.finals = FinalsSettings{.budget = 30};
  tuning::Forecast forecast(many);
  for (const double seconds : {0.5, 0.5, 1.5, 1.5}) forecast.add(timed(seconds));
  EXPECT_DOUBLE_EQ(forecast.range().low, 501) << "two standard errors, and the shortest finals";
  EXPECT_DOUBLE_EQ(forecast.range().high, 1530);
  EXPECT_EQ(forecast.text(), "estimate: 8 to 26 min with the finals; from the first 4 specs");
}

TEST(Forecast, WhereBothGoOnAtOnceOneWaitsForTheOther) {
  tuning::Work both = work(100);
  both.in_turn = false;
  both.jobs = 2;
  tuning::Forecast forecast(both);
  for (int i = 0; i < 4; ++i) forecast.add(timed(1, 8));
  EXPECT_DOUBLE_EQ(forecast.range().high, 400) << "two builds at a time";
}

TEST(Forecast, AboveAnHourItSaysWhatIsShorter) {
  tuning::Forecast forecast(work(100'000));
  for (int i = 0; i < 4; ++i) forecast.add(timed(1));
  EXPECT_TRUE(forecast.text().starts_with("estimate: 27.8 h; from the first 4 specs; shorter: --time-budget"))
      << forecast.text();
}

TEST(Forecast, KnowsWhatBuildsLeaveOnTheDisk) {
  tuning::Forecast forecast(work(100));
  for (int i = 0; i < 4; ++i) forecast.add(timed(1));
  forecast.add_artifact(20 << 20);
  EXPECT_EQ(forecast.text(), "estimate: 2 min; from the first 4 specs; disk 2.0 GiB of builds");
}

TEST(Forecast, SaysWhatABudgetLeavesOut) {
  tuning::Work bounded = work(1200);
  bounded.budget_seconds = 600;
  tuning::Forecast forecast(bounded);
  for (int i = 0; i < 4; ++i) forecast.add(timed(1, 0.5));
  EXPECT_EQ(forecast.text(),
            "estimate: at most 10 min, the --time-budget; all 1200 specs would take 30 min = builds 10 min, timing 20 "
            "min; from the first 4 specs");
  bounded.budget_seconds = 7200;
  tuning::Forecast wide(bounded);
  for (int i = 0; i < 4; ++i) wide.add(timed(1));
  EXPECT_EQ(wide.text(), "estimate: 20 min; from the first 4 specs");
}

TEST(Forecast, TakesSeveralTuningsForAlike) {
  tuning::Work several = work(1200);
  several.tunings = 12;
  tuning::Forecast forecast(several);
  for (int i = 0; i < 4; ++i) forecast.add(timed(1, 0.5));
  EXPECT_TRUE(forecast.text().starts_with(
      "estimate: 6.0 h for 12 tunings, if all are like this one; from the first 4 specs; shorter: "))
      << forecast.text();
  several.budget_seconds = 600;
  tuning::Forecast bounded(several);
  for (int i = 0; i < 4; ++i) bounded.add(timed(1, 0.5));
  EXPECT_EQ(
      bounded.text(),
      "estimate: 2.0 h for 12 tunings, if all are like this one, within the --time-budget of each; from the first "
      "4 specs");
}

TEST(Forecast, HasLeftARangeIfItsMiddleIsOutside) {
  tuning::Forecast forecast(work(100));
  for (int i = 0; i < 4; ++i) forecast.add(timed(1));
  EXPECT_FALSE(forecast.has_a_twentieth());
  EXPECT_FALSE(forecast.has_left({90, 100}));
  EXPECT_TRUE(forecast.has_left({101, 200}));
  EXPECT_TRUE(forecast.has_left({1, 99}));
  forecast.add(timed(1));
  EXPECT_TRUE(forecast.has_a_twentieth());
}

}  // namespace
}  // namespace tune::forecast_test
