#include "model/statistics/ranking.h"

#include <gtest/gtest.h>

#include <limits>

namespace tune::ranking_test {
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

/// Rounds 1, 2, ... of these times.
Finalist finalist(std::int64_t mesh_idx, const std::vector<double>& times) {
  Finalist finalist{{Spec{mesh_idx, {}}}};
  for (const double time : times) finalist.rounds[static_cast<int>(finalist.rounds.size()) + 1] = {.seconds = time};
  finalist.launches = 14;
  return finalist;
}

/// The times again and again: so many rounds that a test can tell.
Finalist steady(std::int64_t mesh_idx, const std::vector<double>& times) {
  std::vector<double> all;
  while (all.size() < 101) all.push_back(times[all.size() % times.size()]);
  return finalist(mesh_idx, all);
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
  EXPECT_EQ(order(ranking), (Order{1, 2, 0}));
  EXPECT_DOUBLE_EQ(ranking.rows[2].finals_result->ratio, 2);
  EXPECT_FALSE(ranking.rows[0].finals_result->tie);
  EXPECT_FALSE(ranking.rows[1].finals_result);
  EXPECT_FALSE(ranking.rows[2].finals_result->tie);
}

TEST(Ranking, OrdersAllBehindTheTiesByTheTimesThatItShows) {
  const Finals finals{{steady(7, {1.0}), steady(3, {1.001}), steady(5, {2})}};
  const std::vector<Trial> trials = {measured(0, 0.9), measured(1, 1.5, true), measured(2, 1.4, true), measured(3, 1),
                                     measured(4, 2.5), measured(5, 1),         measured(7, 1)};
  EXPECT_EQ(order(ranked(trials, &finals)), (Order{3, 7, 0, 5, 4, 2, 1}));
}

TEST(Ranking, ByAnotherFigureThanTheTimeHasTheFinalistsFirst) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1), measured(2, 0.5)};
  const std::vector<Merit> merits = {{10, true, false}, {20, true, false}, {30, true, false}};
  const Finals finals{{finalist(0, {1, 1, 1}), finalist(1, {1, 1, 1})}};
  EXPECT_EQ(order(rank(trials, merits, &finals)), (Order{1, 0, 2}));
}

TEST(Ranking, SeesASmallDifferenceThroughDriftThatIsLarger) {
  // Every round is slower than the last by far more than the one per cent between the two.
  std::vector<double> rounds, slower;
  for (int i = 0; i < 31; ++i) rounds.push_back(1 + 0.1 * i);
  for (const double seconds : rounds) slower.push_back(1.01 * seconds);
  const Finals finals{{finalist(0, slower), finalist(1, rounds)}};
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{1, 0}));
  EXPECT_EQ(ranking.loss, 0.0);
  EXPECT_NEAR(ranking.rows[1].finals_result->ratio, 1.01, 1e-12);
}

TEST(Ranking, GivesAShownTieToTheLowerMeshIndexAndMarksBoth) {
  const Finals finals{{steady(7, {1}), steady(3, {1.001, 1.002}), steady(5, {2})}};
  const std::vector<Trial> trials = {measured(3, 1), measured(5, 1), measured(7, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{3, 7, 5}));
  EXPECT_TRUE(ranking.rows[0].finals_result->tie);
  EXPECT_TRUE(ranking.rows[1].finals_result->tie);
  EXPECT_FALSE(ranking.rows[2].finals_result->tie);
  EXPECT_DOUBLE_EQ(ranking.rows[0].finals_result->ratio, 1);
  EXPECT_LT(ranking.rows[1].finals_result->ratio, 1);
}

TEST(Ranking, GivesATieToTheDefault) {
  Finals finals{{steady(7, {1}), steady(3, {1.001}), steady(9, {1.002}), steady(2, {1.1})}};
  const std::vector<Trial> trials = {measured(2, 1), measured(3, 1), measured(7, 1), measured(9, 1)};
  finals.finalists[2].entrant.kind = Entrant::Kind::current_default;
  EXPECT_EQ(order(ranked(trials, &finals)), (Order{9, 7, 3, 2}));
  finals.finalists[2].entrant.kind = Entrant::Kind::spec;
  finals.finalists[3].entrant.kind = Entrant::Kind::current_default;
  EXPECT_EQ(order(ranked(trials, &finals)), (Order{3, 7, 9, 2})) << "a default that is slower is no tie";
}

TEST(Ranking, CallsWhatItCannotTellApartNoTieAndTakesTheLowestTime) {
  const Finals finals{{steady(7, {1.0}), steady(3, {1.25, 0.8})}};
  const std::vector<Trial> trials = {measured(3, 1), measured(7, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{7, 3}));
  EXPECT_FALSE(ranking.rows[0].finals_result->tie);
  EXPECT_FALSE(ranking.rows[1].finals_result->tie);
  EXPECT_NEAR(ranking.rows[1].finals_result->loss.value(), 0.25, 1e-12);
  EXPECT_NEAR(ranking.loss.value(), 0.25, 1e-12);
}

// By medians, 1 is the fastest; beside it 0 took less, and beside 0 it is 2.
TEST(Ranking, NobodyTookLessThanTheWinnerOfFinalsThatDecidedNothing) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1), measured(2, 1)};
  const Finals finals{{finalist(0, {1.1, 0.9, 0.8, 1.5, 1.5}), finalist(1, {1.5, 1.3, 1.0, 1.0, 1.0}),
                       finalist(2, {0.9, 1.3, 1.1, 1.0, 1.2})}};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking).front(), 2);
  for (const Ranked& row : ranking.rows) EXPECT_GE(row.finals_result->ratio, 1) << row.trial->spec.mesh_idx;
}

// 2 left because 1 was faster in its rounds; the winner was disturbed in these alone.
TEST(Ranking, NobodyWhoLostIsShownAsFasterThanTheWinner) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1), measured(2, 1)};
  std::vector<double> disturbed(101, 1.0);
  std::fill_n(disturbed.begin(), 10, 1.09);
  Finalist gone = finalist(2, std::vector<double>(10, 1.08));
  gone.eliminated_after = 10;
  const Finals finals{{finalist(0, disturbed), steady(1, {1.05}), gone}};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking).front(), 0);
  EXPECT_GE(ranking.rows[1].finals_result->ratio, 1);
  EXPECT_GE(ranking.rows[2].finals_result->ratio, 1);
}

TEST(Ranking, OrdersFinalistsByTheTimesThatItShows) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1), measured(2, 1), measured(3, 1)};
  const Finals finals{
      {steady(0, {1.3, 1.1, 1.2}), steady(1, {1.0, 1.02}), steady(2, {1.5}), finalist(3, {1.25, 1.26, 1.27})}};
  const Ranking ranking = ranked(trials, &finals);
  for (std::size_t i = 1; i < ranking.rows.size(); ++i)
    EXPECT_GE(ranking.rows[i].finals_result->time.seconds, ranking.rows[i - 1].finals_result->time.seconds) << i;
}

TEST(Ranking, ShowsOneThatLeftAsIfTheWinnersDriftHadMetItToo) {
  // It left before everything became twice as slow.
  Finalist gone = finalist(1, std::vector<double>(10, 1.5));
  gone.eliminated_after = 10;
  std::vector<double> rounds(10, 1.0);
  rounds.resize(31, 2.0);
  const Finals finals{{finalist(0, rounds), gone}};
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{0, 1}));
  EXPECT_DOUBLE_EQ(ranking.rows[0].finals_result->time.seconds, 2);
  EXPECT_DOUBLE_EQ(ranking.rows[1].finals_result->time.seconds, 3);
  EXPECT_DOUBLE_EQ(ranking.rows[1].finals_result->ratio, 1.5);
}

TEST(Ranking, TakesRoundsThatNobodyElseHad) {
  Finalist late = finalist(1, {});
  late.rounds = {{50, {2.0}}};
  const Finals finals{{finalist(0, {1, 1}), late}};
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{0, 1}));
  EXPECT_DOUBLE_EQ(ranking.rows[1].finals_result->ratio, 2);
}

TEST(Ranking, PlacesAFinalistThatFailedByItsTimeInTheSweep) {
  Finals finals{{finalist(0, {1}), finalist(1, {2, 2}), finalist(2, {})}};
  finals.finalists[0].failure = Failure{Stage::measure, Cause::crashed, "gone", ""};
  finals.finalists[2].failure = Failure{};
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 2), measured(2, 0.9), measured(3, 0.5)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{1, 3, 2, 0}));
  EXPECT_EQ(ranking.rows[1].failed_in_finals, nullptr);
  EXPECT_FALSE(ranking.rows[3].finals_result);
  ASSERT_NE(ranking.rows[3].failed_in_finals, nullptr);
  EXPECT_EQ(ranking.rows[3].failed_in_finals->message, "gone");
}

TEST(Ranking, ShowsSpecsOfTheSameCodeBehindTheOneThatWasTimed) {
  const std::vector<Trial> trials = {measured(0, 1.0), measured(1, 1.2), measured(2, 1.1), measured(3, 0.9)};
  const Finals finals{{steady(1, {2}), steady(2, {3})}};
  const Ranking ranking = rank(trials, times(trials), &finals, {{0, 1}, {3, 1}});
  EXPECT_EQ(order(ranking), (Order{1, 0, 3, 2}));
  EXPECT_EQ(ranking.rows[2].same_as->spec.mesh_idx, 1);
  EXPECT_EQ(ranking.rows[2].timed().spec.mesh_idx, 1);
  EXPECT_DOUBLE_EQ(ranking.rows[2].finals_result->time.seconds, 2);
  EXPECT_EQ(ranking.rows[3].same_as, nullptr);
}

TEST(Ranking, LetsTheOneThatWasTimedStandForItsCodeWhoeverWasTo) {
  const std::vector<Trial> trials = {measured(0, 1.0), measured(1, 1.2), measured(2, 1.1)};
  const Finals finals{{steady(2, {2})}};
  EXPECT_EQ(order(rank(trials, times(trials), &finals, {{1, 0}, {2, 0}})), (Order{2, 0, 1}));
}

// The winner waited for a core in its first rounds, which an early loser had no others than.
TEST(Ranking, AnEarlyLoserIsNotScaledByRoundsUnlikeTheOthers) {
  const std::vector trials = {measured(1, 1), measured(2, 1), measured(3, 1)};
  std::vector<double> disturbed(101, 1.0);
  std::fill_n(disturbed.begin(), 10, 50.0);
  const Finals finals{{finalist(1, disturbed), steady(2, {1.2}), finalist(3, std::vector<double>(10, 1.5))}};
  const Ranking ranking = ranked(trials, &finals);
  ASSERT_EQ(order(ranking), Order({1, 2, 3}));
  EXPECT_NEAR(ranking.rows[2].finals_result->time.seconds, 1.5, 1e-9);
  EXPECT_NEAR(ranking.rows[2].finals_result->ratio, 1.5, 1e-9);
}

TEST(Ranking, PlacesTheSameCodeOnceWithoutFinals) {
  const std::vector<Trial> trials = {measured(0, 1.05), measured(1, 1.0), measured(2, 1.1)};
  EXPECT_EQ(order(rank(trials, times(trials), nullptr, {{1, 0}})), (Order{0, 1, 2}));
}

TEST(Ranking, KeepsTheOrderOfMeritIfTheObjectiveIsNotTheTime) {
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1)};
  const std::vector<Merit> merits = {{10, true, false}, {20, true, false}};
  const Finals finals{{finalist(0, {1, 1, 1}), finalist(1, {1, 2, 3})}};
  const Ranking ranking = rank(trials, merits, &finals);
  EXPECT_EQ(order(ranking), (Order{1, 0}));
  EXPECT_DOUBLE_EQ(ranking.rows[1].finals_result->ratio, 0.5);
  EXPECT_FALSE(ranking.rows[1].finals_result->tie);
}

TEST(Ranking, ComparesBaselinesWithTheWinnerWithoutPlacingThem) {
  Finals finals{{finalist(0, {2, 2, 2}), finalist(1, {4, 4, 4})}};
  finals.finalists.push_back(finalist(-1, {1, 1, 1}));
  finals.finalists.back().entrant = entrant_of("vendor");
  finals.finalists.push_back({entrant_of("baseline"), {}, 0, Failure{}});
  const std::vector<Trial> trials = {measured(0, 1), measured(1, 1)};
  const Ranking ranking = ranked(trials, &finals);
  EXPECT_EQ(order(ranking), (Order{0, 1}));
  ASSERT_EQ(ranking.baselines.size(), 2u);
  EXPECT_DOUBLE_EQ(ranking.baselines[0].finals_result->ratio, 0.5);
  EXPECT_FALSE(ranking.baselines[1].finals_result);
}

TEST(Ranking, SummarizesTheRoundsOfAFinalist) {
  const Finals finals{{finalist(0, {3, 1, 2})}};
  const std::vector<Trial> trials = {measured(0, 1)};
  const FinalsResult finals_result = *ranked(trials, &finals).rows[0].finals_result;
  EXPECT_DOUBLE_EQ(finals_result.time.seconds, 2);
  EXPECT_DOUBLE_EQ(finals_result.time.interval.value().low, 1);
  EXPECT_DOUBLE_EQ(finals_result.time.interval.value().high, 3);
  EXPECT_EQ(finals_result.launches, 14);
  const Finals single{{finalist(0, {3})}};
  EXPECT_FALSE(ranked(trials, &single).rows[0].finals_result->time.interval) << "however many launches it had";
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

TEST(Finalists, OfTheSameCodeAreOne) {
  const std::vector<Trial> trials = {measured(0, 1.2), measured(1, 1), measured(2, 1.1), measured(3, 1.3)};
  EXPECT_EQ(order(choose_finalists(trials, times(trials), 2, 0.01, 10, {{1, 0}, {3, 0}})), (Order{0, 2}));
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
}  // namespace tune::ranking_test
