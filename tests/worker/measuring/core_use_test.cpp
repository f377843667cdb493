#include "measuring/core_use.h"

#include <gtest/gtest.h>

#include <array>
#include <span>

namespace tune::core_use_test {
namespace {

using worker::CoreUse;

double clean(const CoreUse& use, double cores, double stolen = 0) {
  return worker::clean_seconds(std::array{use}, cores, {stolen, stolen / use.seconds}, {});
}

CoreUse of(double seconds, double computed, double first_computed) {
  CoreUse use;
  use.seconds = seconds;
  use.computed = computed;
  use.first_computed = first_computed;
  return use;
}

/// Two threads that compute 1 s each, of which the second has ended, and began only when the first had finished.
CoreUse two_threads(double others) {
  CoreUse use = of(2, 2, 1);
  use.first_waited = 0.1;
  use.others = others;
  return use;
}

TEST(CleanSeconds, OfOneThreadAreWithoutItsWaits) {
  CoreUse use = of(2, 0.5, 0.5);
  use.first_waited = 1.5;
  EXPECT_DOUBLE_EQ(clean(use, 8), 0.5);
}

TEST(CleanSeconds, OfSeveralThreadsAreLessOnlyWhereOthersTakeTheirCores) {
  EXPECT_DOUBLE_EQ(clean(two_threads(7), 2), 1);
  EXPECT_DOUBLE_EQ(clean(two_threads(1), 2), 1);
  EXPECT_DOUBLE_EQ(clean(two_threads(0), 2), 2) << "they wait for each other";
  EXPECT_DOUBLE_EQ(clean(two_threads(0.3), 2), 2) << "that is the system's own work";
  EXPECT_DOUBLE_EQ(clean(two_threads(7), 16), 2) << "there are cores for all";
  EXPECT_DOUBLE_EQ(clean(two_threads(15), 16), 0.125);
}

TEST(CleanSeconds, CountAnotherProgramBesideOneOfThreeLaunches) {
  const std::array<CoreUse, 3> uses = {two_threads(1), two_threads(0), two_threads(0)};
  EXPECT_DOUBLE_EQ(worker::clean_seconds(uses, 2, {}, {}), 1);
}

TEST(CleanSeconds, CountThreadsOfShortKernelsToo) {
  CoreUse use = of(20e-6, 20e-6, 10e-6);
  use.others = 1;
  EXPECT_DOUBLE_EQ(clean(use, 2), 10e-6) << "the other one has ended";
  use.threads = 2;
  EXPECT_DOUBLE_EQ(clean(use, 2), 10e-6);
  use.first_computed = 19.5e-6;
  EXPECT_DOUBLE_EQ(clean(use, 2), 10e-6) << "it has little to do";
  use.threads = 1;
  EXPECT_DOUBLE_EQ(clean(use, 2), 20e-6) << "that is no thread";
}

TEST(CleanSeconds, CountThreadsByWhatTheyCompute) {
  CoreUse twelve = of(1, 11.5, 1);
  twelve.others = 5;
  EXPECT_DOUBLE_EQ(clean(twelve, 16), 11.5 / 16);
  EXPECT_DOUBLE_EQ(clean(twelve, 32), 1);
}

TEST(CleanSeconds, LeaveOutWhatThreadsComputeWhileTheyWaitForAnother) {
  CoreUse use = of(9, 18, 9);
  use.threads = 2;
  use.others = 3;
  use.first_waited = 1;
  use.others_waited = 6;
  EXPECT_DOUBLE_EQ(clean(use, 2), 2);
  use.others_waited = 8.5;
  EXPECT_DOUBLE_EQ(clean(use, 2), 0.009) << "waits before and after it count, too: nothing is known";
}

TEST(CleanSeconds, LeaveOutWaitsWhereThereIsACoreForEachThread) {
  CoreUse use = of(7e-3, 8e-3, 4e-3);
  use.threads = 2;
  use.first_waited = 1e-3;
  use.others_waited = 2e-3;
  use.others = 0;
  EXPECT_DOUBLE_EQ(clean(use, 2), 1.4e-3) << "both were on one core, and one spun while the other waited";
  use.threads = 3;
  EXPECT_DOUBLE_EQ(clean(use, 2), 7e-3) << "they have to wait for each other";
  use.threads = 1;
  EXPECT_DOUBLE_EQ(clean(use, 2), 7e-3) << "how long those that have ended waited is not known";
  use.threads = 2;
  use.first_waited = 0;
  use.others_waited = 0.1e-3;
  EXPECT_DOUBLE_EQ(clean(use, 2), 7e-3) << "so long they wait around a launch";
}

TEST(CleanSeconds, OfLaunchesOnASharedCoreCountInTheSweepOnlyIfThereIsNoOther) {
  CoreUse alone = of(2e-3, 4e-3, 2e-3), shared = of(7e-3, 8e-3, 4e-3);
  alone.threads = shared.threads = 2;
  shared.first_waited = 3e-3;
  wire::Go finals;
  finals.launches = 3;
  const std::array<CoreUse, 3> uses = {alone, shared, shared};
  EXPECT_DOUBLE_EQ(worker::clean_seconds(uses, 2, {}, {}), 2e-3);
  EXPECT_DOUBLE_EQ(worker::clean_seconds(std::span(uses).subspan(1), 2, {}, {}), 1e-3);
  EXPECT_DOUBLE_EQ(worker::clean_seconds(uses, 2, {}, finals), 1e-3);
}

TEST(CleanSeconds, OfLaunchesThatHardlySharedACoreCountAsTheOthers) {
  CoreUse slow = of(3e-3, 6e-3, 3e-3), fast = of(2e-3, 4e-3, 2e-3);
  slow.threads = fast.threads = 2;
  fast.first_waited = 10e-6;
  const std::array<CoreUse, 3> uses = {slow, fast, fast};
  EXPECT_DOUBLE_EQ(worker::clean_seconds(uses, 2, {}, {}), 1.98e-3);
}

TEST(CleanSeconds, OfOneThreadAreWithoutWhatTheHostTookOfItsTime) {
  CoreUse use = of(0.3, 0.1, 0.1);
  EXPECT_DOUBLE_EQ(clean(use, 2), 0.3) << "it slept";
  EXPECT_DOUBLE_EQ(clean(use, 2, 0.2), 0.1);
  EXPECT_DOUBLE_EQ(clean(use, 2, 0.05), 0.24) << "the host took no more, but for a step of its counter";
  use.first_waited = 0.15;
  EXPECT_DOUBLE_EQ(clean(use, 2, 0.2), 0.1) << "it waited for another program, too";
}

TEST(CleanSeconds, OfSeveralThreadsAreLessWhereTheHostTakesTheirCores) {
  CoreUse use = of(20e-3, 20e-3, 10e-3);
  use.threads = 2;
  EXPECT_DOUBLE_EQ(clean(use, 2), 20e-3) << "they wait for each other";
  EXPECT_DOUBLE_EQ(clean(use, 2, 10e-3), 10e-3);
  EXPECT_DOUBLE_EQ(clean(use, 4, 10e-3), 20e-3) << "there are cores for all";
  const platform::Stolen over_a_second = {10e-3, 0.01};
  EXPECT_DOUBLE_EQ(worker::clean_seconds(std::array{use}, 2, over_a_second, {}), 20e-3) << "most of it was before";
}

TEST(CleanSeconds, AreTheMedianInFinalsAndElseTheLeast) {
  const std::array<CoreUse, 3> uses = {of(3, 0, 0), of(1, 0, 0), of(2, 0, 0)};
  EXPECT_DOUBLE_EQ(worker::clean_seconds(uses, 2, {}, {}), 1);
  wire::Go go;
  go.launches = 3;
  EXPECT_DOUBLE_EQ(worker::clean_seconds(uses, 2, {}, go), 2);
  EXPECT_EQ(worker::clean_seconds({}, 2, {}, {}), 0);
}

}  // namespace
}  // namespace tune::core_use_test
