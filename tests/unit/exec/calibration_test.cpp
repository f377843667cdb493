#include "exec/device/calibration.h"

#include <gtest/gtest.h>

namespace tune::calibration_test {
namespace {

Measurement measured(double seconds) {
  Measurement measurement;
  measurement.timing.median = seconds;
  return measurement;
}

TEST(Calibration, TheFirstDeviceIsTheMeasureOfAll) {
  exec::Calibration calibration(2);
  EXPECT_TRUE(calibration.known(0));
  EXPECT_EQ(calibration.factor(0), 1);
  EXPECT_TRUE(calibration.takes_specs(0));
  EXPECT_FALSE(calibration.known(1));
  EXPECT_FALSE(calibration.takes_specs(1)) << "the calibration spec comes first";
}

TEST(Calibration, AFactorIsTheRatioOfTheTwoTimesOfTheCommonSpec) {
  exec::Calibration calibration(3);
  calibration.choose(5, {});
  EXPECT_TRUE(calibration.is_calibration(5));
  EXPECT_FALSE(calibration.lacks_calibration(0));
  EXPECT_TRUE(calibration.lacks_calibration(1));
  calibration.begin(1);
  EXPECT_FALSE(calibration.lacks_calibration(1));
  EXPECT_TRUE(calibration.takes_specs(1)) << "its times wait for the factor";
  EXPECT_TRUE(calibration.end(1));
  calibration.take(1, measured(2e-3));
  EXPECT_FALSE(calibration.compare(1)) << "the first has not timed it yet";
  calibration.set_seconds(1e-3);
  EXPECT_TRUE(calibration.compare(1));
  EXPECT_EQ(calibration.factor(1), 0.5);
  EXPECT_FALSE(calibration.compare(1)) << "it is known already";
  EXPECT_FALSE(calibration.compare(2));
}

TEST(Calibration, AFailureCountsOnceTheFirstDeviceCouldTimeTheCommonSpec) {
  exec::Calibration calibration(2);
  calibration.choose(5, {});
  calibration.take(1, Failure{Stage::check, Cause::reported, "wrong", ""});
  EXPECT_EQ(calibration.failure(1), nullptr);
  calibration.set_seconds(1e-3);
  ASSERT_NE(calibration.failure(1), nullptr);
  EXPECT_EQ(calibration.failure(1)->message, "wrong");
  EXPECT_FALSE(calibration.compare(1));
}

TEST(Calibration, OfACommonSpecThatIsDroppedNothingIsKept) {
  exec::Calibration calibration(2);
  calibration.choose(5, {});
  calibration.take(1, measured(2e-3));
  calibration.begin(1);
  calibration.drop();
  EXPECT_TRUE(calibration.end(1)) << "it is to be taken from the device";
  EXPECT_FALSE(calibration.takes_specs(1));
  EXPECT_FALSE(calibration.is_calibration(5));
  EXPECT_TRUE(calibration.was_chosen());
  calibration.choose(6, 3e-3);
  calibration.take(1, measured(1e-3));
  EXPECT_TRUE(calibration.compare(1));
  EXPECT_EQ(calibration.factor(1), 3);
}

}  // namespace
}  // namespace tune::calibration_test
