// Searches that have a model of cost.
#include "search/prior.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/methods/model_picks.h"
#include "search/strategies.h"
#include "support/landscape.h"

namespace tune::prior_test {
namespace {

double best_after(const ValidSpecs& specs, const search::Prior* prior, int count, std::uint64_t seed) {
  const auto search = search::make_search(search::parse_strategy("auto"), specs, seed, prior);
  double best = 1e9;
  for (int i = 0; i < count; ++i) {
    const auto point = search->ask();
    const auto cost = tiles_cost(*point);
    search->tell(*point, cost);
    best = std::min(best, cost.value_or(best));
  }
  return best;
}

double mean_after(const ValidSpecs& specs, const search::Prior* prior, int count) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) sum += best_after(specs, prior, count, seed);
  return sum / 40;
}

class Priors : public testing::Test {
 protected:
  Space space_ = tiles();
  ValidSpecs specs_{space_};
  search::Prior right_{specs_, [](const search::Point& point) { return tiles_cost(point); }};
  search::Prior reversed_{specs_, [](const search::Point& point) -> std::optional<double> {
                            const auto cost = tiles_cost(point);
                            return cost ? std::optional(1 / *cost) : std::nullopt;
                          }};
};

TEST_F(Priors, AreSortedAndLeaveOutWhatIsNotPredicted) {
  const auto ranked = right_.ranked();
  EXPECT_TRUE(std::ranges::is_sorted(ranked, {}, &search::Prior::Ranked::log_cost));
  EXPECT_LT(std::ssize(ranked), specs_.size());
  EXPECT_EQ(tiles_cost(specs_.at(ranked.front().index)), 100);
  EXPECT_EQ(right_.coordinate(specs_.at(ranked.front().index)).position, 0);
}

TEST_F(Priors, OfHugeSpacesAreOfASampleAndItsNeighbours) {
  const Space space =
      Grid::space({{{"X", Kind::interval, Grid::range(2000)}, {"Y", Kind::interval, Grid::range(2000)}}});
  const ValidSpecs specs(space);
  const search::Prior prior(specs, [](const search::Point& point) {
    const double x = static_cast<double>(point.digits[0]) - 700, y = static_cast<double>(point.digits[1]) - 1300;
    return 1 + x * x + y * y;
  });
  EXPECT_EQ(prior.ranked().size(), 4096U);
  const auto point = specs.at(prior.ranked().front().index);
  EXPECT_NEAR(point.digits[0], 700, 20);
  EXPECT_NEAR(point.digits[1], 1300, 20);
}

TEST_F(Priors, ThatAreRightFindTheBestAtOnce) {
  EXPECT_EQ(mean_after(specs_, &right_, 1), 100);
  EXPECT_GT(mean_after(specs_, nullptr, 8), 115);
}

TEST_F(Priors, ThatAreWrongCostLittle) {
  EXPECT_LT(mean_after(specs_, &reversed_, 8), 1.15 * mean_after(specs_, nullptr, 8));
  EXPECT_LT(mean_after(specs_, &reversed_, 24), 1.02 * mean_after(specs_, nullptr, 24));
}

TEST_F(Priors, GetEverySecondPointWhileNothingIsKnown) {
  const auto search = search::make_search(search::parse_strategy("auto"), specs_, 2, &right_);
  std::vector<std::int64_t> ranks;
  for (int i = 0; i < 6; ++i) {
    const auto index = specs_.index_of(*search->ask());
    const auto found = std::ranges::find(right_.ranked(), *index, &search::Prior::Ranked::index);
    ranks.push_back(found - right_.ranked().begin());
  }
  EXPECT_EQ((std::vector{ranks[0], ranks[2], ranks[4]}), (std::vector<std::int64_t>{0, 1, 2}));
  for (const std::size_t i : {1, 3, 5}) EXPECT_GT(ranks[i], 20);
}

TEST_F(Priors, LearnWhereTheyAreWrong) {
  // Expects most of RASTER 0, where everything takes twice as long.
  const auto truth = [](const search::Point& point) -> std::optional<double> {
    const auto cost = tiles_cost(point);
    return cost ? std::optional(*cost * (point.digits[4] == 0 ? 2 : 1)) : std::nullopt;
  };
  const search::Prior prior(specs_, [](const search::Point& point) -> std::optional<double> {
    const auto cost = tiles_cost(point);
    return cost ? std::optional(*cost * (point.digits[4] == 0 ? 0.8 : 1)) : std::nullopt;
  });
  search::ModelPicks picks(prior);
  std::vector<std::uint32_t> rasters;
  for (int i = 0; i < 4; ++i) {
    const auto point = *picks.best();
    rasters.push_back(point.digits[4]);
    picks.note(point);
    picks.tell(point, truth(point));
  }
  EXPECT_EQ(rasters.front(), 0U);
  EXPECT_EQ(rasters.back(), 1U);
}

TEST_F(Priors, AreTrustedAsFarAsTheyExplainTheResults) {
  const auto trust = [&](const search::Prior& prior) {
    search::ModelPicks picks(prior);
    for (const std::int64_t index : {100, 300, 500, 700, 900}) {
      const search::Point point = specs_.at(index);
      picks.note(point);
      picks.tell(point, tiles_cost(point));
    }
    return picks.trust();
  };
  EXPECT_GT(trust(right_), 0.9);
  EXPECT_LT(trust(reversed_), 0.1);
}

TEST_F(Priors, OfCostsWhereMoreIsBetterAreLearnedFromToo) {
  search::ModelPicks picks(right_);
  for (const std::int64_t index : {100, 300, 500, 700, 900}) {
    const search::Point point = specs_.at(index);
    const auto cost = tiles_cost(point);
    picks.note(point);
    picks.tell(point, cost ? std::optional(-1 / *cost) : std::nullopt);
  }
  EXPECT_GT(picks.trust(), 0.9);
}

TEST_F(Priors, OfOneSpecAreNotAsked) {
  const Space space = Grid::space({{{"X", Kind::ordinal, {3}}}});
  const ValidSpecs specs(space);
  const search::Prior prior(specs, [](const search::Point&) { return 1.0; });
  const auto search = search::make_search(search::parse_strategy("auto"), specs, 1, &prior);
  const auto point = search->ask();
  ASSERT_TRUE(point);
  search->tell(*point, 1);
  EXPECT_FALSE(search->ask());
}

TEST_F(Priors, NothingPredictedIsAsNoPrior) {
  const search::Prior none(specs_, [](const search::Point&) { return std::nullopt; });
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    EXPECT_EQ(best_after(specs_, &none, 30, seed), best_after(specs_, nullptr, 30, seed));
}

}  // namespace
}  // namespace tune::prior_test
