// How a region of a running application is decided, with costs that are computed: 36 configurations, noise, and
// outliers.
#include <gtest/gtest.h>

#include <cmath>

#include "kokkos/region.h"
#include "kokkos/variable.h"

namespace tune::kokkos::kokkos_region_test {
namespace {

using Integers = std::pair<std::int64_t, std::int64_t>;

Integers integers_in(const std::vector<Value>& values) {
  return {std::get<std::int64_t>(values[0]), std::get<std::int64_t>(values[1])};
}

struct Course {
  Integers decided;
  int runs = 0;
  std::vector<Turn> turns;
};

const Integers kDefault{2, 3}, kBest{4, 1};

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = {{"a", true, Kind::ordinal, {}}, {"b", true, Kind::categorical, {}}};
  for (std::int64_t i = 0; i < 6; ++i)
    for (Parameter& parameter : all) parameter.values.emplace_back(i);
  return all;
}

/// Every configuration costs 1 but the best one, which costs `gain` less, times a noise of up to twice `noise`; one run
/// in fifty takes three times as long.
Course follow(std::uint64_t seed, double gain, double noise, const std::vector<Turn>& earlier = {}) {
  Region region(parameters(), {kDefault.first, kDefault.second}, std::nullopt, {});
  for (const Turn& turn : earlier) region.replay(turn);
  region.start();
  Random random(seed);
  const auto share = [&] { return static_cast<double>(random.below(1'000'000)) * 1e-6; };
  Course course;
  while (!region.decision()) {
    const double cost = integers_in(region.values()) == kBest ? 1 - gain : 1;
    const double disturbed = share() < 0.02 ? 3 : 1;
    if (const auto turn = region.add(cost * disturbed * (1 + noise * (share() + share()))))
      course.turns.push_back(*turn);
    ++course.runs;
  }
  course.decided = integers_in(region.decision()->values);
  return course;
}

TEST(KokkosRegion, NoiseAndOutliersDoNotReplaceTheDefault) {
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (const double noise : {0.0, 0.01, 0.1})
      EXPECT_EQ(follow(seed, 0, noise).decided, kDefault) << seed << " " << noise;
}

TEST(KokkosRegion, ASmallGainIsFoundWhereTheNoiseIsSmaller) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(follow(seed, 0.01, 0.001).decided, kBest) << seed;
    EXPECT_EQ(follow(seed, 0.1, 0.02).decided, kBest) << seed;
  }
}

TEST(KokkosRegion, TurnsOfEarlierRunsAreNotRepeated) {
  std::size_t alone = 0, after_half = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Course whole = follow(seed, 0.1, 0.02);
    const std::vector<Turn> half(whole.turns.begin(), whole.turns.begin() + std::ssize(whole.turns) / 2);
    const Course rest = follow(100 + seed, 0.1, 0.02, half);
    EXPECT_EQ(rest.decided, kBest) << seed;
    EXPECT_EQ(follow(200 + seed, 0.1, 0.02, whole.turns).runs, 0) << seed;
    alone += whole.turns.size();
    after_half += rest.turns.size();
  }
  EXPECT_LT(after_half, alone) << "how long one course is depends on its outliers";
}

TEST(KokkosRegion, CostsThatAreNoneDoNotStopIt) {
  Region region(parameters(), {kDefault.first, kDefault.second}, std::nullopt, {});
  region.start();
  for (int i = 0; i < 100'000 && !region.decision(); ++i)
    region.add(integers_in(region.values()) == kBest ? 1 : std::nan(""));
  ASSERT_TRUE(region.decision());
  EXPECT_EQ(integers_in(region.decision()->values), kBest);
}

TEST(KokkosVariable, ARangeOfManyValuesIsThinnedByItsKind) {
  tools::VariableInfo info{};
  info.type = tools::ValueType::integer;
  info.quantity = tools::Candidates::range;
  info.candidates.range.lower.integer = 1;
  info.candidates.range.upper.integer = 1'000'000;
  info.candidates.range.step.integer = 1;
  info.category = tools::Category::interval;
  const std::vector<Value> even = read_variable("even", info).candidates;
  EXPECT_EQ(even.size(), kMostCandidates);
  EXPECT_EQ(even.front(), Value(std::int64_t{1}));
  EXPECT_EQ(even.back(), Value(std::int64_t{1'000'000}));
  info.category = tools::Category::ratio;
  const std::vector<Value> ratios = read_variable("ratios", info).candidates;
  EXPECT_EQ(ratios.back(), Value(std::int64_t{1'000'000}));
  EXPECT_LT(std::get<std::int64_t>(ratios[ratios.size() / 2]), 10'000);
  info.candidates.range.lower.integer = INT64_MIN;
  info.candidates.range.upper.integer = INT64_MAX;
  EXPECT_NE(read_variable("all", info).unusable, "");
}

}  // namespace
}  // namespace tune::kokkos::kokkos_region_test
