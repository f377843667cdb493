#include "model/cost/power_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tune::power_model_test {
namespace {

// A single-precision kernel on an A100-PCIE-40GB: time and power at ten locked clocks (Kernel Tuner's energy tutorial).
constexpr ClockSample kA100[] = {{210, 1.31061, 42.002},   {330, 0.834078, 47.026},  {465, 0.591962, 52.724},
                                 {600, 0.458787, 58.598},  {735, 0.374521, 64.991},  {870, 0.316338, 71.457},
                                 {1005, 0.273893, 78.121}, {1140, 0.243034, 91.995}, {1275, 0.216701, 116.619},
                                 {1410, 0.19624, 153.408}};

double best_clock(const PowerModel& model, double step) {
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (double mhz = 210; mhz <= 1410; mhz += step)
    if (const double joules = model.watts(mhz) * model.seconds(mhz); joules < least) {
      least = joules;
      best = mhz;
    }
  return best;
}

TEST(PowerModel, FindsTheRidgeOfAnA100) {
  const auto model = PowerModel::fit(kA100);
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->ridge_mhz(), 1070, 60);
  EXPECT_NEAR(model->static_watts(), 32, 2);
  EXPECT_LT(model->error(), 0.02);
  EXPECT_EQ(best_clock(*model, 15), 1065);
}

TEST(PowerModel, FourSamplesAreEnoughForTheBestClock) {
  const std::vector<ClockSample> four = {kA100[0], kA100[3], kA100[6], kA100[9]};
  const auto model = PowerModel::fit(four);
  ASSERT_TRUE(model);
  EXPECT_NEAR(best_clock(*model, 15), 1005, 0.05 * 1005);
}

TEST(PowerModel, IsExactForASpecThatFollowsIt) {
  std::vector<ClockSample> samples;
  for (double mhz = 300; mhz <= 2000; mhz += 170) {
    const double volts = 1 + std::max(0.0, mhz - 1150) / 1700;
    samples.push_back({mhz, 0.001 + 2 / mhz, 60 + 0.2 * mhz * volts * volts});
  }
  const auto model = PowerModel::fit(samples);
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->seconds(1000), 0.003, 1e-6);
  EXPECT_NEAR(model->watts(1000), 260, 3);
  EXPECT_LT(model->error(), 0.01);
}

TEST(PowerModel, NeedsFourClocksThatMakeSense) {
  const std::vector<ClockSample> three = {kA100[0], kA100[3], kA100[6], kA100[6]};
  EXPECT_FALSE(PowerModel::fit(three)) << "two are at the same clock";
  std::vector<ClockSample> broken(std::begin(kA100), std::begin(kA100) + 4);
  broken[1].watts = std::nan("");
  EXPECT_FALSE(PowerModel::fit(broken));
  EXPECT_FALSE(PowerModel::fit({}));
}

TEST(PowerModel, APowerThatDoesNotGrowIsFlat) {
  std::vector<ClockSample> samples;
  for (const double mhz : {500.0, 1000.0, 1500.0, 2000.0}) samples.push_back({mhz, 1 / mhz, 100});
  const auto model = PowerModel::fit(samples);
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->watts(1200), 100, 1);
}

}  // namespace
}  // namespace tune::power_model_test
