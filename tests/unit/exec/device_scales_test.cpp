#include "exec/device/device_scales.h"

#include <gtest/gtest.h>

namespace tune::device_scales_test {
namespace {

Measurement measured(double seconds) {
  Measurement measurement;
  measurement.timing.median = seconds;
  return measurement;
}

TEST(DeviceScales, TheFirstDeviceIsTheMeasureOfAll) {
  exec::DeviceScales scales(2);
  EXPECT_TRUE(scales.known(0));
  EXPECT_EQ(scales.factor(0), 1);
  EXPECT_TRUE(scales.takes_specs(0));
  EXPECT_FALSE(scales.known(1));
  EXPECT_FALSE(scales.takes_specs(1)) << "the calibration spec comes first";
}

TEST(DeviceScales, AFactorIsTheRatioOfTheTwoTimesOfTheCommonSpec) {
  exec::DeviceScales scales(3);
  scales.choose(5, {});
  EXPECT_TRUE(scales.is_calibration(5));
  EXPECT_FALSE(scales.lacks_calibration(0));
  EXPECT_TRUE(scales.lacks_calibration(1));
  scales.begin(1);
  EXPECT_FALSE(scales.lacks_calibration(1));
  EXPECT_TRUE(scales.takes_specs(1)) << "its times wait for the factor";
  EXPECT_TRUE(scales.end(1));
  scales.take(1, measured(2e-3));
  EXPECT_FALSE(scales.compare(1)) << "the first has not timed it yet";
  scales.set_seconds(1e-3);
  EXPECT_TRUE(scales.compare(1));
  EXPECT_EQ(scales.factor(1), 0.5);
  EXPECT_FALSE(scales.compare(1)) << "it is known already";
  EXPECT_FALSE(scales.compare(2));
}

TEST(DeviceScales, AFailureCountsOnceTheFirstDeviceCouldTimeTheCommonSpec) {
  exec::DeviceScales scales(2);
  scales.choose(5, {});
  scales.take(1, Failure{Stage::check, Cause::reported, "wrong", ""});
  EXPECT_EQ(scales.failure(1), nullptr);
  scales.set_seconds(1e-3);
  ASSERT_NE(scales.failure(1), nullptr);
  EXPECT_EQ(scales.failure(1)->message, "wrong");
  EXPECT_FALSE(scales.compare(1));
}

TEST(DeviceScales, OfACommonSpecThatIsDroppedNothingIsKept) {
  exec::DeviceScales scales(2);
  scales.choose(5, {});
  scales.take(1, measured(2e-3));
  scales.begin(1);
  scales.drop();
  EXPECT_TRUE(scales.end(1)) << "it is to be taken from the device";
  EXPECT_FALSE(scales.takes_specs(1));
  EXPECT_FALSE(scales.is_calibration(5));
  EXPECT_TRUE(scales.was_chosen());
  scales.choose(6, 3e-3);
  scales.take(1, measured(1e-3));
  EXPECT_TRUE(scales.compare(1));
  EXPECT_EQ(scales.factor(1), 3);
}

}  // namespace
}  // namespace tune::device_scales_test
