#include "exec/device/calibration.h"

#include <gtest/gtest.h>

namespace tune::calibration_test {
namespace {

/// That of devices whose first is the anchor; results are numbers.
exec::Calibration<int> calibration_of(std::size_t devices) {
  exec::Calibration<int> calibration(devices);
  calibration.set_anchor(0);
  return calibration;
}

TEST(Calibration, TheFirstDeviceIsTheMeasureOfAll) {
  const auto calibration = calibration_of(2);
  EXPECT_TRUE(calibration.known(0));
  EXPECT_EQ(calibration.factor(0), 1);
  EXPECT_FALSE(calibration.waits(0));
  EXPECT_FALSE(calibration.known(1));
  EXPECT_TRUE(calibration.waits(1)) << "the calibration spec comes first";
}

TEST(Calibration, AFactorIsTheRatioOfTheTwoTimesOfTheCommonSpec) {
  auto calibration = calibration_of(3);
  calibration.set_specs({std::nullopt});
  EXPECT_TRUE(calibration.has_specs());
  EXPECT_FALSE(calibration.specs_are_timed());
  EXPECT_FALSE(calibration.waits(0));
  EXPECT_TRUE(calibration.waits(1));
  calibration.give(1);
  EXPECT_FALSE(calibration.waits(1)) << "its times wait for the factor";
  calibration.note(1, 0, 2e-3);
  EXPECT_FALSE(calibration.known(1)) << "the first has not timed it yet";
  EXPECT_EQ(calibration.factor(1), 1);
  calibration.set_specs({1e-3});
  EXPECT_TRUE(calibration.known(1));
  EXPECT_EQ(calibration.factor(1), 0.5);
  EXPECT_FALSE(calibration.known(2));
}

TEST(Calibration, OfSeveralSpecsTheMedianOfTheRatiosCountsAndFailuresDoNot) {
  auto calibration = calibration_of(2);
  calibration.set_specs({1e-3, 2e-3, 3e-3, 4e-3});
  calibration.give(1);
  calibration.note(1, 0, 2e-3);
  calibration.note(1, 3, "wrong");
  calibration.note(1, 2, 300e-3);
  EXPECT_FALSE(calibration.known(1)) << "one is not timed yet";
  calibration.note(1, 1, 8e-3);
  EXPECT_EQ(calibration.factor(1), 0.25);
  EXPECT_EQ(calibration.failure(1), nullptr);
}

TEST(Calibration, WithoutSpecsThereIsNothingToCompareBy) {
  auto calibration = calibration_of(2);
  calibration.set_specs({});
  calibration.give(1);
  EXPECT_TRUE(calibration.known(1));
  EXPECT_EQ(calibration.factor(1), 1);
}

TEST(Calibration, AFailureCountsOnceTheFirstDeviceCouldTimeTheCommonSpec) {
  auto calibration = calibration_of(2);
  calibration.set_specs({std::nullopt});
  calibration.give(1);
  calibration.note(1, 0, "wrong");
  EXPECT_EQ(calibration.failure(1), nullptr);
  calibration.set_specs({1e-3});
  ASSERT_NE(calibration.failure(1), nullptr);
  EXPECT_EQ(*calibration.failure(1), "wrong");
  EXPECT_FALSE(calibration.known(1));
}

TEST(Calibration, OfACommonSpecThatIsDroppedNothingIsKept) {
  auto calibration = calibration_of(3);
  calibration.set_specs({std::nullopt});
  calibration.give(1);
  calibration.note(1, 0, 2e-3);
  calibration.give(2);
  calibration.drop_specs();
  EXPECT_FALSE(calibration.has_specs());
  EXPECT_TRUE(calibration.waits(1));
  EXPECT_TRUE(calibration.waits(2));
  calibration.note(2, 0, 5e-3);
  calibration.set_specs({3e-3});
  EXPECT_TRUE(calibration.waits(2)) << "what it was given before does not count";
  calibration.give(1);
  EXPECT_FALSE(calibration.known(1));
  calibration.note(1, 0, 1e-3);
  EXPECT_EQ(calibration.factor(1), 3);
}

TEST(Calibration, KeepsResultsUntilTheyAreTaken) {
  auto calibration = calibration_of(2);
  calibration.hold(1, 7);
  calibration.hold(1, 5);
  EXPECT_EQ(calibration.held(0).size(), 0u);
  EXPECT_EQ(calibration.take_held(1), (std::vector<int>{7, 5}));
  EXPECT_EQ(calibration.held(1).size(), 0u);
}

}  // namespace
}  // namespace tune::calibration_test
