#include "model/ranking.h"

#include <gtest/gtest.h>

#include <limits>

namespace tune {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Trial measured(std::int64_t mesh_idx, double seconds, bool early = false) {
  Measurement measurement;
  measurement.timing.median = seconds;
  measurement.timing.stopped_early = early;
  return {Spec{mesh_idx, {}}, measurement};
}

Trial failed(std::int64_t mesh_idx) { return {Spec{mesh_idx, {}}, Failure{}}; }

std::vector<Merit> times(std::span<const Trial> trials) {
  std::vector<Merit> merits;
  for (const Trial& trial : trials) {
    merits.push_back({trial.measurement() ? trial.measurement()->timing.median : 0, false});
  }
  return merits;
}

std::vector<std::int64_t> order(const Ranking& ranking) {
  std::vector<std::int64_t> indices;
  for (const Ranked& row : ranking.rows) indices.push_back(row.trial->spec.mesh_idx);
  return indices;
}

std::vector<std::int64_t> order(const std::vector<const Trial*>& trials) {
  std::vector<std::int64_t> indices;
  for (const Trial* trial : trials) indices.push_back(trial->spec.mesh_idx);
  return indices;
}

Finalist finalist(std::int64_t mesh_idx, std::vector<double> rounds) {
  return {"", Spec{mesh_idx, {}}, rounds, 14, {}};
}

Ranking ranked(const std::vector<Trial>& trials, const Finals* finals = nullptr) {
  return rank(trials, times(trials), finals);
}

using Order = std::vector<std::int64_t>;

TEST(Ranking, PutsTheFastestFirst) {
  const std::vector<Trial> trials = {measured(0, 3), measured(1, 1), measured(2, 2)};
  EXPECT_EQ(order(ranked(trials)), (Order{1, 2, 0}));
}

TEST(Ranking, PutsTheLargestFirstWhereMoreIsBetter) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1), measured(2, 1)};
  const std::vector<Merit> merits = {{5, true}, {7, true}, {6, true}};
  EXPECT_EQ(order(rank(trials, merits, nullptr)), (Order{1, 2, 0}));
}

TEST(Ranking, GivesEqualTimesToTheLowerMeshIndex) {
  const std::vector<Trial> trials = {measured(9, 1), measured(4, 1), measured(6, 1)};
  EXPECT_EQ(order(ranked(trials)), (Order{4, 6, 9}));
}

TEST(Ranking, PutsEarlyStoppedSpecsLastHoweverFastTheyLook) {
  const std::vector<Trial> trials = {measured(0, 1, true), measured(1, 3), measured(2, 2)};
  EXPECT_EQ(order(ranked(trials)), (Order{2, 1, 0}));
}

TEST(Ranking, PutsASpecThatWasStoppedBeforeItsMeritWasKnownBehindAllOthers) {
  const std::vector<Trial> trials = {measured(0, 9, true), measured(1, 2), measured(2, 3), measured(3, 8, true)};
  const std::vector<Merit> merits = {{kNaN, true, false}, {5, true, false}, {7, true, false}, {1, true, false}};
  EXPECT_EQ(order(rank(trials, merits, nullptr)), (std::vector<std::int64_t>{2, 1, 3, 0}));
}

TEST(Ranking, NeverPlacesANaN) {
  const std::vector<Trial> trials = {measured(0, kNaN), measured(1, 2), measured(2, 1)};
  const std::vector<Merit> merits = {{1, true}, {2, true}, {kNaN, true}};
  EXPECT_EQ(order(rank(trials, merits, nullptr)), (Order{1}));
}

TEST(Ranking, NeverPlacesATimeOfZero) {
  const std::vector<Trial> trials = {measured(0, 0), measured(1, 2)};
  EXPECT_EQ(order(ranked(trials)), (Order{1}));
}

TEST(Ranking, NeverPlacesAFailure) {
  const std::vector<Trial> trials = {failed(0), measured(1, 2)};
  EXPECT_EQ(order(ranked(trials)), (Order{1}));
}

TEST(Ranking, LetsTheFinalsOverruleTheSweep) {
  const std::vector<Trial> trials = {measured(0, 1.0), measured(1, 1.1), measured(2, 1.2)};
  const Finals finals{{finalist(0, {2, 2, 2}), finalist(1, {1, 1, 1})}};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{1, 0, 2}));
  EXPECT_DOUBLE_EQ(ranking.rows[1].standing->ratio, 2);
  EXPECT_FALSE(ranking.rows[0].standing->tie);
  EXPECT_FALSE(ranking.rows[1].standing->tie);
  EXPECT_FALSE(ranking.rows[2].standing);
}

TEST(Ranking, SeesASmallDifferenceThroughDriftThatIsLarger) {
  // Every round is slower than the last by far more than the one per cent between the two.
  const Finals finals{
      {finalist(0, {1.01, 1.111, 1.212, 1.313, 1.414, 1.515}), finalist(1, {1, 1.1, 1.2, 1.3, 1.4, 1.5})}};
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{1, 0}));
  EXPECT_FALSE(ranking.rows[1].standing->tie);
  EXPECT_NEAR(ranking.rows[1].standing->ratio, 1.01, 1e-12);
}

TEST(Ranking, GivesATieToTheLowerMeshIndexAndMarksBoth) {
  const Finals finals{
      {finalist(7, {1.0, 1.0, 1.0, 1.0}), finalist(3, {1.1, 0.9, 1.2, 1.1}), finalist(5, {2, 2, 2, 2})}};
  const std::vector<Trial> trials = {measured(3, 1), measured(5, 1), measured(7, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{3, 7, 5}));
  EXPECT_TRUE(ranking.rows[0].standing->tie);
  EXPECT_TRUE(ranking.rows[1].standing->tie);
  EXPECT_FALSE(ranking.rows[2].standing->tie);
  EXPECT_DOUBLE_EQ(ranking.rows[0].standing->ratio, 1);
  EXPECT_LT(ranking.rows[1].standing->ratio, 1);
}

TEST(Ranking, DecidesTiesAgainstTheLeaderAndNotAlongAChain) {
  // 1 ties with 2 and 2 with the leader 3, but 1 is always slower than 3.
  const Finals finals{{finalist(3, {1.0, 1.0, 1.0}), finalist(2, {0.9, 1.1, 1.2}), finalist(1, {1.1, 1.2, 1.1})}};
  const std::vector<Trial> trials = {measured(1, 1), measured(2, 1), measured(3, 1)};
  EXPECT_EQ(order(ranked(trials, &finals)).front(), 2);
}

TEST(Ranking, DropsAFinalistThatFailed) {
  Finals finals{{finalist(0, {}), finalist(1, {1, 1})}};
  finals.finalists[0].failure = Failure{};
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 2), measured(2, 3)};
  EXPECT_EQ(order(ranked(trials, &finals)), (Order{1, 2}));
}

TEST(Ranking, DropsAFinalistWithANaNRound) {
  const Finals finals{{finalist(0, {1, kNaN}), finalist(1, {1, 1})}};
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 2)};
  EXPECT_EQ(order(ranked(trials, &finals)), (Order{1}));
}

TEST(Ranking, KeepsTheOrderOfMeritIfTheObjectiveIsNotTheTime) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1)};
  const std::vector<Merit> merits = {{10, true, false}, {20, true, false}};
  const Finals finals{{finalist(0, {1, 1, 1}), finalist(1, {1, 2, 3})}};
  const Ranking ranking = rank(trials, merits, &finals);
  EXPECT_EQ(order(ranking), (Order{1, 0}));
  EXPECT_DOUBLE_EQ(ranking.rows[1].standing->ratio, 0.5);
  EXPECT_FALSE(ranking.rows[1].standing->tie);
}

TEST(Ranking, ComparesBaselinesWithTheWinnerWithoutPlacingThem) {
  Finals finals{{finalist(0, {2, 2, 2}), finalist(1, {4, 4, 4})}};
  finals.finalists.push_back({"vendor", {}, {1, 1, 1}, 14, {}});
  finals.finalists.push_back({"baseline", {}, {}, 0, Failure{}});
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{0, 1}));
  ASSERT_EQ(ranking.baselines.size(), 2u);
  EXPECT_DOUBLE_EQ(ranking.baselines[0].standing->ratio, 0.5);
  EXPECT_FALSE(ranking.baselines[1].standing);
}

TEST(Ranking, SummarizesTheRoundsOfAFinalist) {
  const Finals finals{{finalist(0, {3, 1, 2})}};
  const std::vector<Trial> trials = {measured(0, 1)};
  const Standing standing = *ranked(trials, &finals).rows[0].standing;
  EXPECT_DOUBLE_EQ(standing.median_seconds, 2);
  EXPECT_DOUBLE_EQ(standing.seconds_interval.low, 1);
  EXPECT_DOUBLE_EQ(standing.seconds_interval.high, 3);
  EXPECT_EQ(standing.launches, 14);
}

TEST(Finalists, AreTheTopAndAllWithinTheMargin) {
  const std::vector<Trial> trials = {measured(0, 1.00), measured(1, 1.019), measured(2, 1.5), measured(3, 1.01)};
  EXPECT_EQ(order(choose_finalists(trials, times(trials), 2, 0.02, 10)), (Order{0, 3, 1}));
  EXPECT_EQ(order(choose_finalists(trials, times(trials), 4, 0.02, 10)), (Order{0, 3, 1, 2}));
}

TEST(Finalists, AreNoMoreThanTheLimit) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1), measured(2, 1)};
  EXPECT_EQ(order(choose_finalists(trials, times(trials), 3, 0.02, 2)), (Order{0, 1}));
}

TEST(Finalists, WithinTheMarginAreBelowTheBestWhereMoreIsBetter) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1), measured(2, 1)};
  const std::vector<Merit> merits = {{97, true}, {100, true}, {98.5, true}};
  EXPECT_EQ(order(choose_finalists(trials, merits, 1, 0.02, 10)), (Order{1, 2}));
}

TEST(Finalists, AreNeverEarlyStoppedOrFailed) {
  const std::vector<Trial> trials = {measured(0, 1, true), failed(1), measured(2, 2)};
  EXPECT_EQ(order(choose_finalists(trials, times(trials), 5, 0.02, 10)), (Order{2}));
}

TEST(ParetoFront, HoldsWhatNothingBeats) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> costs = {{1, 9}, {2, 5}, {2, 6}, {3, 5}, {4, 1}, {nan, 0}, {1, 9}, {9, nan}};
  EXPECT_EQ(pareto_front(costs), (std::vector<bool>{true, true, false, false, true, false, true, false}));
}

TEST(ParetoFront, OfThreeCostsMayHoldAll) {
  const std::vector<std::vector<double>> costs = {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}};
  EXPECT_EQ(pareto_front(costs), (std::vector<bool>{true, true, true}));
  EXPECT_TRUE(pareto_front({}).empty());
}

}  // namespace
}  // namespace tune
