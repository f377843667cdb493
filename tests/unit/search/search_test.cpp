#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "model/values/error.h"
#include "search/methods/neighbours.h"
#include "search/strategies.h"
#include "support/landscape.h"

namespace tune::search_test {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const search::StrategyChoice& choice : search::strategies()) found.push_back(choice.name);
  return found;
}

std::unique_ptr<search::Search> make(const std::string& text, const ValidSpecs& specs, std::uint64_t seed = 1) {
  return search::make_search(search::parse_strategy(text), specs, seed);
}

using Cost = std::optional<double> (*)(const search::Point&);

/// What a search asks for when each point is told before the next.
std::vector<search::Point> path(search::Search& search, Cost cost, std::size_t most) {
  std::vector<search::Point> points;
  while (points.size() < most) {
    auto point = search.ask();
    if (!point) break;
    search.tell(*point, cost(*point));
    points.push_back(std::move(*point));
  }
  return points;
}

double best_of(const std::vector<search::Point>& points) {
  double best = std::numeric_limits<double>::infinity();
  for (const search::Point& point : points) best = std::min(best, tiles_cost(point).value_or(best));
  return best;
}

class EveryStrategy : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, EveryStrategy, testing::ValuesIn(names()),
                         [](const auto& strategy) { return strategy.param; });

TEST_P(EveryStrategy, AsksForEverySpecOnceAndThenForNoMore) {
  const Space space = tiles();
  const ValidSpecs specs(space);
  const auto search = make(GetParam(), specs);
  const auto points = path(*search, tiles_cost, 10'000);
  EXPECT_EQ(std::set(points.begin(), points.end()).size(), points.size());
  EXPECT_EQ(points.size(), 1152u);
  EXPECT_FALSE(search->ask());
}

TEST_P(EveryStrategy, GoesTheSameWayForTheSameSeed) {
  const Space space = tiles();
  const ValidSpecs specs(space);
  const auto first = path(*make(GetParam(), specs, 5), tiles_cost, 100);
  EXPECT_EQ(first, path(*make(GetParam(), specs, 5), tiles_cost, 100));
  if (GetParam() == "exhaustive") return;
  EXPECT_NE(first, path(*make(GetParam(), specs, 6), tiles_cost, 100));
}

TEST_P(EveryStrategy, TriesAllWhenAllFail) {
  const Space space = Grid::space({{{"X", Kind::ratio, {1, 2, 4, 8}}, {"Y", Kind::interval, Grid::range(20)}}});
  const ValidSpecs specs(space);
  EXPECT_EQ(path(
                *make(GetParam(), specs), [](const search::Point&) { return std::optional<double>(); }, 1000)
                .size(),
            80u);
}

TEST_P(EveryStrategy, TriesAllWhenAllCostTheSameWhateverTheSign) {
  const Space space = Grid::space({{{"X", Kind::ratio, {1, 2, 4, 8}}, {"Y", Kind::interval, Grid::range(20)}}});
  const ValidSpecs specs(space);
  for (const Cost cost :
       {Cost([](const search::Point&) { return std::optional(0.0); }),
        Cost([](const search::Point&) { return std::optional(-1.0); }),
        Cost([](const search::Point& p) { return std::optional(static_cast<double>(p.digits[0]) - 1); })})
    EXPECT_EQ(path(*make(GetParam(), specs), cost, 1000).size(), 80u);
}

TEST(Steps, OfLongRatiosAreRatios) {
  const Space space = Grid::space({{{"X", Kind::ratio, Grid::range(4096)}}});
  const ValidSpecs specs(space);
  const auto around = [&](std::uint32_t value) {
    std::set<std::uint32_t> found;
    for (const search::Point& step : search::Neighbours(specs).around({0, {value - 1}}))
      found.insert(step.digits[0] + 1);
    return found;
  };
  EXPECT_EQ(around(1024), (std::set<std::uint32_t>{256, 512, 717, 1023, 1025, 1434, 2048, 4096}));
  EXPECT_EQ(around(1), (std::set<std::uint32_t>{2, 4}));
  EXPECT_EQ(around(4000), (std::set<std::uint32_t>{1000, 2000, 2800, 3999, 4001, 4096}));
}

TEST_P(EveryStrategy, KnowsASpaceOfOneSpecAndOneOfNone) {
  const Space space = Grid::space({{{"X", Kind::ratio, {4}}, {"Y", Kind::categorical, {1}}}});
  EXPECT_EQ(path(
                *make(GetParam(), ValidSpecs(space)), [](const search::Point&) { return std::optional(1.0); }, 10)
                .size(),
            1u);
  EXPECT_FALSE(make(GetParam(), ValidSpecs(space, std::vector<search::Point>{}))->ask());
}

TEST_P(EveryStrategy, HasManyPointsOutAtOnceAndIsToldInAnyOrder) {
  const Space space = tiles();
  const ValidSpecs specs(space);
  const auto search = make(GetParam(), specs);
  std::set<search::Point> seen;
  std::vector<search::Point> out;
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    auto point = search->ask();
    ASSERT_TRUE(point);
    EXPECT_TRUE(seen.insert(*point).second);
    out.push_back(std::move(*point));
    if (out.size() < 16) continue;
    shuffle(out, random);
    search->tell(out.back(), tiles_cost(out.back()));
    out.pop_back();
  }
}

TEST_P(EveryStrategy, LeavesToOthersWhatIsClaimed) {
  const Space space = tiles();
  const ValidSpecs specs(space);
  const auto search = make(GetParam(), specs);
  const search::Point claimed = specs.at(0);
  EXPECT_TRUE(search->claim(claimed));
  EXPECT_FALSE(search->claim(claimed));
  search->tell(claimed, 1000);
  const auto points = path(*search, tiles_cost, 10'000);
  EXPECT_EQ(points.size(), 1151u);
  EXPECT_EQ(std::ranges::count(points, claimed), 0);
}

TEST_P(EveryStrategy, SearchesAUnionOfMappingsWithParametersOfTheirOwn) {
  const Space space = Grid::space({{{"X", Kind::ratio, {1, 2, 4}}, {"A", Kind::ordinal, Grid::range(9)}},
                                   {{"X", Kind::ratio, {2, 4, 8}}, {"B", Kind::categorical, Grid::range(7)}}});
  const ValidSpecs specs(space);
  const auto cost = [](const search::Point& p) { return std::optional(10.0 + p.mapping + p.digits[0] * p.digits[1]); };
  EXPECT_EQ(path(*make(GetParam(), specs), cost, 1000).size(), 48u);
}

TEST_P(EveryStrategy, SearchesMappingsOfOneSpecEach) {
  std::vector<std::vector<Grid::Axis>> mappings;
  for (int i = 0; i < 20; ++i) mappings.push_back({{"P" + std::to_string(i), Kind::ratio, {1}}});
  const Space space = Grid::space(mappings);
  const auto cost = [](const search::Point& p) { return std::optional(10.0 + p.mapping); };
  EXPECT_EQ(path(*make(GetParam(), ValidSpecs(space)), cost, 1000).size(), 20u);
}

TEST_P(EveryStrategy, StartsAtOnceInASpaceOfATrillionSpecs) {
  const Space space = Grid::space({{{"A", Kind::interval, Grid::range(1000)},
                                    {"B", Kind::interval, Grid::range(1000)},
                                    {"C", Kind::ordinal, Grid::range(1000)},
                                    {"D", Kind::categorical, Grid::range(1000)}}});
  const ValidSpecs specs(space);
  ASSERT_EQ(specs.size(), 1'000'000'000'000);
  const auto cost = [](const search::Point& p) { return std::optional(1.0 + p.digits[0] + p.digits[1] + p.digits[2]); };
  const auto points = path(*make(GetParam(), specs), cost, 60);
  EXPECT_EQ(std::set(points.begin(), points.end()).size(), 60u);
}

TEST_P(EveryStrategy, IsNoWorseThanRandomOnATiledKernel) {
  if (GetParam() == "exhaustive") GTEST_SKIP() << "is no search";
  const Space space = tiles();
  const ValidSpecs specs(space);
  double found = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    found += best_of(path(*make(GetParam(), specs, seed), tiles_cost, 60));
    random += best_of(path(*make("random:latin=0", specs, seed + 100), tiles_cost, 60));
  }
  EXPECT_LE(found, random * 1.02);
  const bool modelled = GetParam() == "auto" || GetParam() == "bayes";
  EXPECT_LE(found / 20, modelled ? 102 : 200);
}

/// Blocks of 16, 32, ... 256 threads, of which five in sixteen are powers of two, and tiles of 1 to 4.
Space blocks() {
  std::vector<std::int64_t> sixteens;
  for (std::int64_t i = 1; i <= 16; ++i) sixteens.push_back(16 * i);
  return Grid::space({{{"BLOCK", Kind::ordinal, sixteens}, {"TILE", Kind::ordinal, Grid::range(4)}}});
}

TEST(Auto, BeginsWithPowersOfTwo) {
  const Space space = blocks();
  const ValidSpecs specs(space);
  int powers = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const search::Point& point : path(
             *make("auto", specs, seed), [](const search::Point&) { return std::optional(1.0); }, 4))
      powers += std::has_single_bit(point.digits[0] + 1u);
  EXPECT_GT(powers, 40);  // of 80; evenly drawn: 25
}

TEST(Auto, LearnsWhereOddPartsAreBetter) {
  const Space space = blocks();
  const ValidSpecs specs(space);
  const Cost cost = [](const search::Point& p) {
    const double apart = std::abs(static_cast<double>(p.digits[0]) - 10);  // 176 threads, tiles of 3
    return std::optional(10 + apart + 2.0 * (p.digits[1] != 2));
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    double best = 100;
    for (const search::Point& point : path(*make("auto", specs, seed), cost, 24)) best = std::min(best, *cost(point));
    EXPECT_LE(best, 11) << seed;  // of 10 to 22
  }
}

TEST(Auto, KeepsAwayFromWhatFails) {
  const Space space = tiles();
  const ValidSpecs specs(space);
  const Cost cost = [](const search::Point& p) {
    return p.digits[0] + p.digits[1] >= 3 ? std::optional<double>() : std::optional(100.0 - p.digits[0] - p.digits[1]);
  };
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const search::Point& point : path(*make("auto", specs, seed), cost, 100)) failed += !cost(point);
  EXPECT_LT(failed, 20 * 28);  // 62 % of the specs fail
}

TEST(RandomSearch, UsesValuesEvenlyUnlessToldNotTo) {
  const Space space = Grid::space({{{"X", Kind::ordinal, Grid::range(8)}, {"Y", Kind::ordinal, Grid::range(1000)}}});
  const ValidSpecs specs(space);
  const auto largest_count = [&](const std::string& strategy) {
    std::vector<int> counts(8);
    for (const search::Point& point : path(
             *make(strategy, specs), [](const search::Point&) { return std::optional(1.0); }, 80))
      ++counts[point.digits[0]];
    return *std::ranges::max_element(counts);
  };
  EXPECT_LE(largest_count("random"), 13);
  EXPECT_GT(largest_count("random:latin=0"), 13);
}

std::string complaint(const std::string& text) {
  try {
    search::parse_strategy(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    return error.what();
  }
  return "none";
}

TEST(Strategies, AreChosenByNameWithOptions) {
  EXPECT_EQ(search::parse_strategy("genetic:population=30,mutation=0.5").option("population"), 30);
  EXPECT_EQ(search::parse_strategy("genetic:population=30,mutation=0.5").option("mutation"), 0.5);
  EXPECT_EQ(search::parse_strategy("genetic").option("tournament"), 4);
}

TEST(Strategies, SayWhatIsWrongWithANameOrAnOption) {
  EXPECT_EQ(complaint("genetics"), "--strategy genetics: there is no strategy 'genetics', did you mean 'genetic'?");
  EXPECT_EQ(complaint("x"),
            "--strategy x: there is no strategy 'x'; there are auto, bayes, genetic, annealing, random, exhaustive");
  EXPECT_EQ(complaint("genetic:popluation=3"),
            "--strategy genetic:popluation=3: genetic has no option 'popluation', did you mean 'population'?");
  EXPECT_EQ(complaint("auto:x=3"), "--strategy auto:x=3: auto has no option 'x'; it has design, patience, model");
  EXPECT_EQ(complaint("exhaustive:x=3"), "--strategy exhaustive:x=3: exhaustive has no option 'x'; it has none");
  EXPECT_EQ(complaint("genetic:population"), "--strategy genetic:population: 'population' is not key=value");
  EXPECT_EQ(complaint("genetic:population=1"),
            "--strategy genetic:population=1: population is a whole number of at least 2 and at most 5000, not '1'");
  EXPECT_EQ(complaint("annealing:heat=hot"),
            "--strategy annealing:heat=hot: heat is a number of at least 0, not 'hot'");
}

}  // namespace
}  // namespace tune::search_test
