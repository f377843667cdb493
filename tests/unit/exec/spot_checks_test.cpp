#include "exec/process/spot_checks.h"

#include <gtest/gtest.h>

namespace tune::spot_checks_test {
namespace {

int chosen(std::uint64_t seed, int specs) {
  exec::SpotChecks checks(seed);
  int count = 0;
  for (int i = 0; i < specs; ++i) count += checks.next();
  return count;
}

TEST(SpotChecks, ChooseOneOfTheFirstTwentyAndThenOneOfEveryFifty) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(chosen(seed, 20), 1) << seed;
    EXPECT_EQ(chosen(seed, 70), 2) << seed;
    EXPECT_EQ(chosen(seed, 1020), 21) << seed;
  }
}

TEST(SpotChecks, ChooseBySeed) {
  const auto first = [](std::uint64_t seed) {
    exec::SpotChecks checks(seed);
    int place = 0;
    while (!checks.next()) ++place;
    return place;
  };
  EXPECT_EQ(first(3), first(3));
  EXPECT_NE(first(0), first(1));
}

Timing timing(double median, double low = 0, double high = 0, bool early = false) {
  Timing timing;
  timing.count = 7;
  timing.median = timing.min = timing.mean = timing.p95 = median;
  timing.ci_low = low;
  timing.ci_high = high;
  timing.stopped_early = early;
  return timing;
}

std::optional<std::string> disagreement(const Timing& shared, const Timing& own) {
  return tune::exec::disagreement(shared, Measurement{.timing = own, .metrics = {}, .build = {}});
}

TEST(Disagreement, IsMoreThanTheIntervalsAndFivePercentExplain) {
  EXPECT_FALSE(disagreement(timing(1e-3), timing(1.049e-3)));
  EXPECT_TRUE(disagreement(timing(1e-3), timing(1.06e-3)));
  EXPECT_TRUE(disagreement(timing(1.06e-3), timing(1e-3)));
  EXPECT_FALSE(disagreement(timing(1e-3, 0.99e-3, 1.02e-3), timing(1.06e-3, 1.05e-3, 1.07e-3)));
  EXPECT_TRUE(disagreement(timing(1e-3, 0.99e-3, 1.01e-3), timing(1.1e-3, 1.08e-3, 1.12e-3)));
}

TEST(Disagreement, OfShortLaunchesIsMoreThanWhereTheyHappenToLieExplains) {
  EXPECT_FALSE(disagreement(timing(52.2e-6), timing(49.2e-6)));
  EXPECT_FALSE(disagreement(timing(49.2e-6), timing(52.2e-6)));
  EXPECT_TRUE(disagreement(timing(60e-6), timing(49.2e-6)));
}

TEST(Disagreement, OfAFewLaunchesIsMoreThanHalf) {
  EXPECT_FALSE(disagreement(timing(2e-3, 0, 0, true), timing(1.4e-3)));
  EXPECT_FALSE(disagreement(timing(2e-3, 0, 0, true), timing(6e-3, 0, 0, true))) << "both say that it is slow";
  EXPECT_TRUE(disagreement(timing(2e-3, 0, 0, true), timing(1.3e-3)));
  EXPECT_TRUE(disagreement(timing(1.3e-3), timing(2e-3, 0, 0, true)));
}

TEST(Disagreement, SaysBothTimes) {
  EXPECT_EQ(disagreement(timing(0.5e-3), timing(1e-3)),
            "took 0.5 ms in a process that others had used and 1 ms in one of its own");
}

TEST(Disagreement, IsAFailureInAProcessOfItsOwn) {
  EXPECT_EQ(tune::exec::disagreement(timing(1e-3), Failure{Stage::check, Cause::reported, "wrong\nat 0", ""}),
            "could be measured in a process that others had used, but fails in one of its own: wrong");
}

}  // namespace
}  // namespace tune::spot_checks_test
