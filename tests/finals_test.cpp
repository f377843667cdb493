#include "model/statistics/finals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/values/random.h"

namespace tune::finals_test {
namespace {

Finalist timed(std::int64_t mesh_idx, const std::map<int, double>& rounds) { return {"", Spec{mesh_idx, {}}, rounds}; }

/// Rounds 1, 2, ... of the same times again and again.
Finalist repeated(std::int64_t mesh_idx, std::vector<double> times, int count) {
  Finalist finalist = timed(mesh_idx, {});
  for (int i = 0; i < count; ++i) finalist.rounds[i + 1] = times[static_cast<std::size_t>(i) % times.size()];
  return finalist;
}

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log((static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53));
  return radius * std::cos(2 * std::numbers::pi * static_cast<double>(random.next() >> 11) * 0x1p-53);
}

/// Finals of specs that take `true_times`, as the runner holds them; who has lost.
std::vector<bool> losers(const std::vector<double>& true_times, double noise, Random& random) {
  const Judge judge(true_times.size());
  std::vector<Finalist> specs;
  for (std::size_t i = 0; i < true_times.size(); ++i) specs.push_back(timed(static_cast<std::int64_t>(i), {}));
  for (int round = 1; round <= SequentialIntervals::looks().back(); ++round) {
    // All drift together, by much more than they differ.
    const double drift = 1 + 0.1 * std::sin(round / 5.0);
    std::vector<const Finalist*> left;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].eliminated_after > 0) continue;
      specs[i].rounds[round] = true_times[i] * drift * std::exp(noise * normal(random));
      left.push_back(&specs[i]);
    }
    if (round < Judge::kFewest) continue;
    const Finalist& leader = Judge::leader_of(left);
    std::vector<Finalist*> lost;
    for (Finalist& spec : specs)
      if (spec.eliminated_after == 0 && judge.verdict(spec, leader) == Verdict::lost) lost.push_back(&spec);
    for (Finalist* spec : lost) spec->eliminated_after = round;
  }
  std::vector<bool> result;
  for (const Finalist& spec : specs) result.push_back(spec.eliminated_after > 0);
  return result;
}

TEST(Judge, CallsNoneOfIdenticalSpecsALoserInNineteenOfTwentyFinals) {
  Random random(1);
  for (const auto& [specs, finals] : {std::pair(2, 1000), {6, 300}, {24, 60}}) {
    int wronged = 0;
    for (int i = 0; i < finals; ++i) {
      const auto lost = losers(std::vector<double>(static_cast<std::size_t>(specs), 1.0), 0.05, random);
      wronged += std::ranges::find(lost, true) != lost.end() ? 1 : 0;
    }
    EXPECT_LE(wronged, finals / 20) << specs << " specs";
  }
}

TEST(Judge, KeepsTheFastestAndLosesTheOthers) {
  Random random(2);
  int wronged = 0, kept = 0;
  for (int i = 0; i < 200; ++i) {
    const auto lost = losers({1.02, 1.0, 1.03, 1.05, 1.10, 1.15}, 0.01, random);
    wronged += lost[1] ? 1 : 0;
    kept += static_cast<int>(std::ranges::count(lost, false)) - (lost[1] ? 0 : 1);
  }
  EXPECT_EQ(wronged, 0);
  EXPECT_EQ(kept, 0) << "of 1000 slower ones";
}

TEST(Judge, PairsRoundsByTheirNumber) {
  const Finalist x = timed(0, {{1, 2}, {2, 4}, {4, 8}}), y = timed(1, {{2, 2}, {3, 1}, {4, 8}, {5, 1}});
  EXPECT_EQ(paired_ratios(x, y), (std::vector<double>{2, 1}));
  EXPECT_TRUE(paired_ratios(x, timed(2, {{7, 1}})).empty());
}

TEST(Judge, CallsADifferenceOfLessThanTheMarginNoLoss) {
  const Judge judge(2);
  const Finalist leader = repeated(0, {1}, 101);
  EXPECT_EQ(judge.verdict(repeated(1, {1.002}, 101), leader), Verdict::equivalent);
  EXPECT_EQ(judge.verdict(repeated(1, {0.999, 1.001}, 101), leader), Verdict::equivalent);
  EXPECT_EQ(judge.verdict(repeated(1, {1.002, 1.002, 1.002, 1.01}, 101), leader), Verdict::equivalent);
  EXPECT_EQ(judge.verdict(repeated(1, {1.001, 1.01}, 101), leader), Verdict::slower);
  EXPECT_EQ(judge.verdict(repeated(1, {0.99, 1.01}, 101), leader), Verdict::open);
  EXPECT_EQ(judge.verdict(repeated(1, {1.004}, 101), leader), Verdict::lost);
}

TEST(Judge, SaysNothingAfterAFewRounds) {
  EXPECT_EQ(Judge(2).verdict(repeated(1, {2, 3}, 8), repeated(0, {1}, 8)), Verdict::open);
  EXPECT_EQ(Judge(2).verdict(repeated(1, {2, 3}, 9), repeated(0, {1}, 9)), Verdict::lost);
  EXPECT_EQ(Judge(24).verdict(repeated(1, {2, 3}, 15), repeated(0, {1}, 15)), Verdict::open);
  EXPECT_EQ(Judge(2).verdict(repeated(1, {2}, 20), timed(0, {{30, 1}})), Verdict::open);
}

TEST(Judge, TellsWhoIsFarBehindByAFewSteadyRounds) {
  const Finalist leader = repeated(0, {1}, 5);
  EXPECT_EQ(Judge(24).verdict(repeated(1, {1.02, 1.024}, 5), leader), Verdict::lost);
  EXPECT_EQ(Judge(24).verdict(repeated(1, {1.02, 1.024}, 4), leader), Verdict::open) << "too few";
  EXPECT_EQ(Judge(24).verdict(repeated(1, {1.02, 1.026}, 5), leader), Verdict::open) << "not steady enough";
  EXPECT_EQ(Judge(24).verdict(repeated(1, {1.009}, 5), leader), Verdict::open) << "not far enough";
}

TEST(Judge, HoldsThatWhoLeftHasLost) {
  Finalist gone = repeated(1, {0.5}, 20);
  gone.eliminated_after = 20;
  const Finalist leader = repeated(0, {1}, 30);
  const std::vector<const Finalist*> specs = {&gone, &leader};
  EXPECT_EQ(&Judge::leader_of(specs), &leader);
  EXPECT_EQ(Judge(2).verdict(gone, leader), Verdict::lost);
}

TEST(Judge, DoesNotCountWhoFailedOrHasNoTimes) {
  EXPECT_FALSE(finished(timed(0, {})));
  EXPECT_FALSE(finished(timed(0, {{1, 0.0}})));
  EXPECT_FALSE(finished(timed(0, {{1, std::numeric_limits<double>::quiet_NaN()}})));
  Finalist failed = timed(0, {{1, 1.0}});
  EXPECT_TRUE(finished(failed));
  failed.failure = Failure{};
  EXPECT_FALSE(finished(failed));
}

}  // namespace
}  // namespace tune::finals_test
