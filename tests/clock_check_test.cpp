#include "clock_check.h"

#include <gtest/gtest.h>

namespace tune::clock_check_test {
namespace {

constexpr double kAllowance = 1e-4;

TEST(ClockCheck, AClaimThatTheJudgesClockBearsOutStands) {
  EXPECT_EQ(worker::clock_contradiction({}, kAllowance), std::nullopt);
  EXPECT_EQ(worker::clock_contradiction({{10e-3, 10.05e-3}, {11e-3, 11.02e-3}}, kAllowance), std::nullopt);
}

TEST(ClockCheck, AClaimOfMuchLessIsNamed) {
  EXPECT_EQ(worker::clock_contradiction({{2e-4, 9.8e-3}, {2e-4, 9.8e-3}, {2e-4, 9.8e-3}}, kAllowance),
            "the kernel's process reports 0.2 ms for launches that took 9.8 ms");
}

TEST(ClockCheck, DisturbancesOfSomeLaunchesAreNoContradiction) {
  EXPECT_EQ(worker::clock_contradiction(
                {{10e-3, 10.05e-3}, {10e-3, 25e-3}, {10e-3, 31e-3}, {10e-3, 10.02e-3}, {11e-3, 40e-3}, {11e-3, 41e-3}},
                kAllowance),
            std::nullopt);
}

TEST(ClockCheck, ToBeHonestInASlowerHalfDoesNotHelp) {
  EXPECT_NE(
      worker::clock_contradiction(
          {{1e-3, 10e-3}, {1e-3, 10e-3}, {1e-3, 10e-3}, {10e-3, 10e-3}, {10e-3, 10e-3}, {10e-3, 10e-3}}, kAllowance),
      std::nullopt);
}

TEST(ClockCheck, AProcessMayClaimMoreThanItTook) {
  EXPECT_EQ(worker::clock_contradiction({{10e-3, 1e-3}}, kAllowance), std::nullopt);
}

}  // namespace
}  // namespace tune::clock_check_test
