#include "model/statistics/sequential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "model/values/random.h"

namespace tune::sequential_test {
namespace {

using Noise = std::function<double(Random&)>;

double uniform(Random& random) { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; }

double normal(Random& random) {
  return std::sqrt(-2 * std::log(uniform(random))) * std::cos(2 * std::numbers::pi * uniform(random));
}

double light(Random& random) { return std::exp(0.02 * normal(random)); }
/// Rare and long, as an interrupt.
double skewed(Random& random) { return 1 + 0.02 * std::pow(-std::log(uniform(random)), 3); }
/// Cauchy's, which has no mean.
double heavy(Random& random) { return 1 + 0.01 * std::abs(std::tan(std::numbers::pi * (uniform(random) - 0.5))); }
/// The clock is one of two, for both alike or not.
double bimodal(Random& random) { return (uniform(random) < 0.3 ? 1.2 : 1.0) * light(random); }

/// In what share of finals between two specs, the first `slower` times as slow, the intervals told them apart.
double told_apart(const Noise& noise, double slower, std::uint64_t seed) {
  constexpr int kFinals = 2000;
  const SequentialIntervals intervals(0.025);
  Random random(seed);
  int apart = 0;
  for (int i = 0; i < kFinals; ++i) {
    std::vector<double> ratios;
    bool told = false;
    for (const int look : SequentialIntervals::looks()) {
      while (static_cast<int>(ratios.size()) < look) {
        const double other = noise(random);
        ratios.push_back(slower * noise(random) / other);
      }
      const auto interval = intervals.of(ratios);
      told = told || (interval && (interval->low > 1 || interval->high < 1));
    }
    apart += told ? 1 : 0;
  }
  return static_cast<double>(apart) / kFinals;
}

std::vector<double> ranks(int count) {
  std::vector<double> values;
  for (int i = 1; i <= count; ++i) values.push_back(i);
  return values;
}

// Of 2000, 5 % are 100 with a standard deviation of 10.
TEST(SequentialIntervals, TellIdenticalSpecsApartInAtMostOneOfTwentyFinalsWhateverTheNoise) {
  for (const auto& [name, noise] :
       {std::pair<const char*, Noise>{"light", light}, {"skewed", skewed}, {"heavy", heavy}, {"bimodal", bimodal}})
    for (const std::uint64_t seed : {1U, 2U}) {
      const double share = told_apart(noise, 1, seed);
      EXPECT_LE(share, 0.06) << name;
      EXPECT_GE(share, 0.02) << name << ": the level is not made use of";
    }
}

TEST(SequentialIntervals, TellAOnePerCentDifferenceThroughTwoPerCentOfNoise) {
  EXPECT_GE(told_apart(light, 1.015, 1), 0.95);
}

TEST(SequentialIntervals, AreUnknownBeforeTheFirstLook) {
  const SequentialIntervals intervals(0.025);
  EXPECT_FALSE(intervals.of({}));
  EXPECT_FALSE(intervals.of(ranks(8)));
  EXPECT_TRUE(intervals.of(ranks(9)));
}

// 2^-9, 2^-10 are spent at the first looks where log(1 + (e - 1) n/101)/40 allows it: worked out by hand.
TEST(SequentialIntervals, HaveTheRanksThatTheSpendingFunctionAllows) {
  const SequentialIntervals intervals(0.025);
  EXPECT_EQ(intervals.of(ranks(9))->low, 1);
  EXPECT_EQ(intervals.of(ranks(9))->high, 9);
  EXPECT_FALSE(SequentialIntervals(0.05 / (24 * 23)).of(ranks(15)));
  EXPECT_EQ(SequentialIntervals(0.05 / (24 * 23)).of(ranks(16))->low, 1);
  EXPECT_GE(intervals.of(ranks(101))->low, 38);
}

// Between looks nothing more is known: else there would be as many looks as values.
TEST(SequentialIntervals, HeedNoValueBehindTheLastLook) {
  const SequentialIntervals intervals(0.025);
  std::vector<double> values = ranks(20);
  values.insert(values.end(), 4, -1000.0);
  EXPECT_EQ(intervals.of(values)->low, intervals.of(ranks(20))->low);
}

}  // namespace
}  // namespace tune::sequential_test
