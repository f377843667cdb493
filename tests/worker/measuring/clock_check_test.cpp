#include "measuring/clock_check.h"

#include <gtest/gtest.h>

namespace tune::clock_check_test {
namespace {

constexpr double kAllowance = 1e-4, kBusy = 1;

const std::string kWhatToDo =
    " until nothing of it ran: a kernel has to end its work before it returns, and must not change the clock";

TEST(ClockCheck, AClaimThatTheJudgesClockBearsOutStands) {
  EXPECT_EQ(worker::clock_contradiction({}, kAllowance, kBusy), std::nullopt);
  EXPECT_EQ(worker::clock_contradiction({{10e-3, 10.05e-3}, {11e-3, 11.02e-3}}, kAllowance, kBusy), std::nullopt);
}

TEST(ClockCheck, AClaimOfMuchLessIsNamed) {
  EXPECT_EQ(worker::clock_contradiction({{2e-4, 9.8e-3}, {2e-4, 9.8e-3}, {2e-4, 9.8e-3}}, kAllowance, kBusy),
            "the kernel's process reports 0.2 ms for launches that took 9.8 ms" + kWhatToDo);
}

TEST(ClockCheck, DisturbancesOfSomeLaunchesAreNoContradiction) {
  EXPECT_EQ(worker::clock_contradiction(
                {{10e-3, 10.05e-3}, {10e-3, 25e-3}, {10e-3, 31e-3}, {10e-3, 10.02e-3}, {11e-3, 40e-3}, {11e-3, 41e-3}},
                kAllowance, kBusy),
            std::nullopt);
}

TEST(ClockCheck, ToBeHonestInASlowerHalfDoesNotHelp) {
  EXPECT_NE(worker::clock_contradiction(
                {{1e-3, 10e-3}, {1e-3, 10e-3}, {1e-3, 10e-3}, {10e-3, 10e-3}, {10e-3, 10e-3}, {10e-3, 10e-3}},
                kAllowance, kBusy),
            std::nullopt);
}

TEST(ClockCheck, AProcessMayClaimMoreThanItTook) {
  EXPECT_EQ(worker::clock_contradiction({{10e-3, 1e-3}}, kAllowance, kBusy), std::nullopt);
}

TEST(ClockCheck, WaitingForACoreIsAnExcuseAsFarAsOthersCanBeTheCause) {
  const std::vector<worker::TimedLaunch> launches = {{1e-3, 9e-3, 8e-3}, {1e-3, 9e-3, 8e-3}};
  EXPECT_EQ(worker::clock_contradiction(launches, kAllowance, 10e-3), std::nullopt);
  EXPECT_EQ(worker::clock_contradiction(launches, kAllowance, 2e-3),
            "the kernel's process reports 1 ms for launches that took 7 ms" + kWhatToDo);
}

}  // namespace
}  // namespace tune::clock_check_test
