#include "program/whole_command.h"

#include <gtest/gtest.h>

namespace tune::whole_command_test {
namespace {

platform::ResourceUse ran(double seconds, double waited, double computed) {
  platform::ResourceUse use;
  use.seconds = seconds;
  use.cpu_seconds = computed;
  use.waited_seconds = waited;
  return use;
}

TEST(WholeCommand, TakesTheTimeInWhichItHasACore) {
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 1, 1)), 1);
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 0.5, 0.1)), 1.5) << "it sleeps for most of the time";
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 0.5, 1.8)), 1.8) << "another thread went on for a while";
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 0.5, 3)), 2) << "its other threads went on meanwhile";
  EXPECT_DOUBLE_EQ(worker::seconds_with_a_core(ran(2, 0.02, 1.9)), 2) << "as long as undisturbed ones wait";
}

TEST(WholeCommand, IsMeasuredWithoutItsWaitsForACore) {
  MeasureRules rules;
  rules.warmup = 0;
  int runs = 0;
  worker::WholeCommand command(rules, [&] {
    const double waited = 0.1 * ++runs;
    return ran(1 + waited, waited, 1);
  });
  EXPECT_DOUBLE_EQ(command.measure({}).timing.median, 1);
  EXPECT_DOUBLE_EQ(command.measure({.launches = 1}).timing.median, 1) << "in the finals";
}

}  // namespace
}  // namespace tune::whole_command_test
