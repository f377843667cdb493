#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "model/statistics/tournament.h"
#include "model/values/random.h"

namespace tune::finals_test {
namespace {

Finalist timed(std::int64_t mesh_idx, const std::map<int, double>& seconds) {
  Finalist finalist{{Spec{mesh_idx, {}}}};
  for (const auto& [round, time] : seconds) finalist.rounds[round].seconds = time;
  return finalist;
}

/// Rounds 1, 2, ... of the same times again and again.
Finalist repeated(std::int64_t mesh_idx, std::vector<double> times, int count) {
  Finalist finalist = timed(mesh_idx, {});
  for (int i = 0; i < count; ++i) finalist.rounds[i + 1].seconds = times[static_cast<std::size_t>(i) % times.size()];
  return finalist;
}

/// The clean times of its rounds are these, again and again.
void set_clean(Finalist& finalist, const std::vector<double>& times) {
  std::size_t i = 0;
  for (auto& [number, round] : finalist.rounds) round.clean_seconds = times[i++ % times.size()];
}

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log((static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53));
  return radius * std::cos(2 * std::numbers::pi * static_cast<double>(random.next() >> 11) * 0x1p-53);
}

/// Finals of specs that take `true_times`, as the runner holds them: who is left at the end, and what was decided.
struct Held {
  std::vector<Finalist> specs;
  std::int64_t winner = -1;
  std::optional<double> loss;
  int rounds = 0;

  std::size_t left() const {
    return static_cast<std::size_t>(std::ranges::count(specs, 0, &Finalist::eliminated_after));
  }
};

/// `until_decided`: else all rounds are held.
Held hold(const std::vector<double>& true_times, double noise, Random& random, bool until_decided) {
  Held held;
  for (std::size_t i = 0; i < true_times.size(); ++i) held.specs.push_back(timed(static_cast<std::int64_t>(i), {}));
  std::vector<Finalist*> all;
  for (Finalist& spec : held.specs) all.push_back(&spec);
  Tournament tournament(all, kAccuracy);
  while (held.rounds < SequentialIntervals::looks().back()) {
    // All drift together, by much more than they differ.
    const double drift = 1 + 0.1 * std::sin(++held.rounds / 5.0);
    for (std::size_t i = 0; i < held.specs.size(); ++i)
      if (held.specs[i].eliminated_after == 0)
        held.specs[i].rounds[held.rounds].seconds = true_times[i] * drift * std::exp(noise * normal(random));
    tournament.eliminate_losers(held.rounds);
    if (until_decided && tournament.decided()) break;
  }
  held.winner = tournament.choice().winner->entrant.spec.mesh_idx;
  held.loss = tournament.choice().loss;
  return held;
}

TEST(Tournament, EliminatesNoneOfIdenticalSpecsInNineteenOfTwentyFinals) {
  Random random(1);
  for (const auto& [specs, finals] : {std::pair(2, 400), {6, 140}, {24, 40}}) {
    int wronged = 0;
    for (int i = 0; i < finals; ++i) {
      const std::vector<double> times(static_cast<std::size_t>(specs), 1.0);
      wronged += hold(times, 0.05, random, false).left() < times.size() ? 1 : 0;
    }
    EXPECT_LE(wronged, finals / 20) << specs << " specs";
  }
}

TEST(Tournament, KeepsTheFastestAndEliminatesTheOthers) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Held held = hold({1.02, 1.0, 1.03, 1.05, 1.10, 1.15}, 0.01, random, false);
    EXPECT_EQ(held.left(), 1U);
    EXPECT_EQ(held.winner, 1);
    EXPECT_EQ(held.loss, 0.0);
  }
}

TEST(Tournament, EndsWithAWinnerThatLosesNoMoreThanItSaysInNineteenOfTwentyFinals) {
  Random random(3);
  int rounds = 0, wrong = 0;
  for (int i = 0; i < 300; ++i) {
    const std::vector<double> times = {1.004, 1.0, 1.002, 1.03, 1.035, 1.04};
    const Held held = hold(times, 0.01, random, true);
    ASSERT_TRUE(held.loss);
    EXPECT_LE(*held.loss, kAccuracy);
    wrong += times[static_cast<std::size_t>(held.winner)] - 1 > *held.loss ? 1 : 0;
    rounds += held.rounds;
  }
  EXPECT_LE(wrong, 300 / 20);
  EXPECT_LT(rounds, 300 * 50) << "specs that nobody would choose between keep no finals going";
}

TEST(Tournament, EliminatesNoneThatMayBeFasterWithoutOtherPrograms) {
  std::vector<Finalist> specs = {repeated(0, {1.0}, 9), repeated(1, {3.0}, 9)};
  const auto hold = [&](double clean) {
    if (clean > 0) set_clean(specs[1], {clean});
    specs[1].eliminated_after = 0;
    Tournament tournament({specs.data(), &specs[1]}, kAccuracy);
    tournament.eliminate_losers(9);
    return tournament.choice().loss.value();
  };
  EXPECT_DOUBLE_EQ(hold(0.8), 0.25);
  EXPECT_EQ(specs[1].eliminated_after, 0);
  EXPECT_EQ(hold(1.1), 0) << "it is slower without them, too";
  EXPECT_EQ(specs[1].eliminated_after, 9);
  set_clean(specs[1], {0.8});
  EXPECT_EQ(Judge(2).loss(specs[0], specs[1]), 0) << "it was eliminated";
  specs[1] = repeated(1, {3.0}, 9);
  EXPECT_EQ(hold(0), 0) << "nothing is known of them";
  specs[1] = repeated(1, {1.02}, 9);
  EXPECT_EQ(hold(0.99), 0) << "that is noise";
  specs[1] = repeated(1, {1.02}, 9);
  specs[1].rounds[5].seconds = 1.1;
  EXPECT_NEAR(hold(0.97), 1 / 0.97 - 1, 1e-12) << "one round was disturbed, and the others may have been";
}

TEST(Tournament, TellsADisturbedRivalBySoManyRoundsAsAnother) {
  Finalist spec = repeated(0, {1.0}, 8), rival = repeated(1, {1.1}, 8);
  set_clean(rival, {0.97, 0.996});
  EXPECT_EQ(Judge(2).loss(spec, rival), std::nullopt) << "too few";
  spec = repeated(0, {1.0}, 9), rival = repeated(1, {1.1}, 9);
  set_clean(rival, {1.002, 1.002, 0.97});
  EXPECT_FALSE(Judge(2).has_lost(rival, spec)) << "though its clean median is above the other's";
  EXPECT_NEAR(Judge(2).loss(spec, rival).value(), 1 / 0.97 - 1, 1e-12);
}

TEST(Tournament, LeavesRoomInARatioForOtherPrograms) {
  Finalist now = repeated(0, {3.0}, 9), then = repeated(1, {1.5}, 9);
  const auto ratio = [&] { return Judge(2).safe_interval(now, then).value(); };
  EXPECT_DOUBLE_EQ(ratio().low, 2);
  set_clean(now, {1.2});
  EXPECT_DOUBLE_EQ(ratio().low, 0.8);
  EXPECT_DOUBLE_EQ(ratio().high, 2);
  set_clean(then, {1.0});
  EXPECT_DOUBLE_EQ(ratio().high, 3);
}

TEST(Tournament, ComparesTwoBuildsOfOneSpecAsTheyAreDisturbedAlike) {
  Finalist now = repeated(0, {3.0}, 9), then = repeated(1, {2.5}, 9);
  now.entrant.spec.params = {{"THREADS", Value(std::int64_t{2}), true}};
  set_clean(now, {1.15});
  set_clean(then, {1.0});
  const auto ratio = [&] { return Judge(2).safe_interval(now, then).value(); };
  EXPECT_DOUBLE_EQ(ratio().low, 1.15 / 2.5) << "another spec may be disturbed otherwise";
  EXPECT_DOUBLE_EQ(ratio().high, 3.0);
  then.entrant.spec.params = now.entrant.spec.params;
  EXPECT_DOUBLE_EQ(ratio().low, 1.15) << "by the clean times of both";
  EXPECT_DOUBLE_EQ(ratio().high, 1.2) << "by the times of both";
}

TEST(Tournament, WidensNoRatioThatNothingDisturbed) {
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    Finalist x = timed(0, {}), y = timed(1, {});
    for (int round = 1; round <= 25; ++round) {
      const double drift = std::exp(0.1 * normal(random));
      x.rounds[round].seconds = drift * std::exp(0.005 * normal(random));
      y.rounds[round].seconds = drift * std::exp(0.005 * normal(random));
    }
    const Interval paired = Judge(2).interval(x, y, Basis::times).value(), wide = Judge(2).safe_interval(x, y).value();
    EXPECT_EQ(wide.low, paired.low);
    EXPECT_EQ(wide.high, paired.high);
  }
}

TEST(Tournament, SaysHowMuchIsOpenWhereNoiseHidesIt) {
  Random random(4);
  const Held held = hold({1.0, 1.001, 1.002}, 0.2, random, true);
  EXPECT_EQ(held.rounds, SequentialIntervals::looks().back());
  EXPECT_GT(held.loss.value(), kAccuracy);
}

TEST(Tournament, TakesTheDefaultAmongThoseThatLoseNoMoreThanTheAccuracy) {
  std::vector<Finalist> specs = {repeated(3, {1.004}, 31), repeated(5, {1.0}, 31), repeated(9, {1.006}, 31)};
  const auto winner = [&](double accuracy) {
    std::vector<const Finalist*> all;
    for (const Finalist& spec : specs) all.push_back(&spec);
    return choose_winner(Judge(3), all, accuracy).winner->entrant.spec.mesh_idx;
  };
  EXPECT_EQ(winner(0.01), 3) << "the lowest mesh_idx";
  specs[2].entrant.kind = Entrant::Kind::current_default;
  EXPECT_EQ(winner(0.01), 9);
  EXPECT_EQ(winner(0.005), 3) << "the default loses 0.6 %";
  EXPECT_EQ(winner(0.001), 5);
}

TEST(Tournament, KeepsWhoLosesNoMoreThanTheAccuracy) {
  std::vector<Finalist> specs = {repeated(0, {1.005}, 20), repeated(1, {1}, 20), repeated(2, {1.02}, 20)};
  specs[0].entrant.kind = Entrant::Kind::current_default;
  Tournament tournament({&specs[0], &specs[1], &specs[2]}, kAccuracy);
  EXPECT_EQ(tournament.eliminate_losers(20), (std::vector<Finalist*>{&specs[2]}));
  EXPECT_EQ(tournament.choice().winner, &specs[0]) << "today's configuration, which half a per cent would not change";
}

TEST(Tournament, LosesWhoWasSlowBeforeWhereThereIsNoTimeForMoreRounds) {
  const std::vector<double> ratios = {1, 1.9, 2.1, 4.1};
  const auto lost_after = [&](int rounds, const std::set<int>& slow) {
    std::vector<Finalist> specs;
    for (const double ratio : ratios) specs.push_back(repeated(std::ssize(specs), {ratio}, rounds));
    std::set<const Finalist*> those;
    for (const int each : slow) those.insert(&specs[static_cast<std::size_t>(each)]);
    Tournament tournament({&specs[0], &specs[1], &specs[2], &specs[3]}, kAccuracy);
    std::vector<std::int64_t> lost;
    for (const Finalist* spec : tournament.eliminate_losers(rounds, those)) lost.push_back(spec->entrant.spec.mesh_idx);
    EXPECT_EQ(tournament.choice().loss.has_value(), lost.size() == 3);
    return lost;
  };
  using Lost = std::vector<std::int64_t>;
  EXPECT_EQ(lost_after(1, {}), Lost{});
  EXPECT_EQ(lost_after(1, {3}), Lost{3}) << "the other may have been disturbed in this round";
  EXPECT_EQ(lost_after(1, {1, 2, 3}), (Lost{2, 3}));
  EXPECT_EQ(lost_after(5, {}), (Lost{1, 2, 3})) << "by the test";
  Finalist disturbed = repeated(1, {5}, 1), leader = repeated(0, {1}, 1);
  disturbed.rounds[1].clean_seconds = 1.1;
  EXPECT_EQ(Tournament({&leader, &disturbed}, kAccuracy).eliminate_losers(1, {&disturbed}), std::vector<Finalist*>{});
}

TEST(Tournament, IsNotWonByWhoFailed) {
  std::vector<Finalist> specs = {repeated(0, {1}, 20), repeated(1, {2}, 20)};
  specs[0].failure = Failure{};
  Tournament tournament({&specs[0], &specs[1]}, kAccuracy);
  EXPECT_EQ(tournament.choice().winner, &specs[1]);
  specs[1].failure = Failure{};
  EXPECT_EQ(tournament.choice().winner, nullptr);
  EXPECT_FALSE(tournament.decided());
}

TEST(Judge, PairsRoundsByTheirNumber) {
  const Finalist x = timed(0, {{1, 2}, {2, 4}, {4, 8}}), y = timed(1, {{2, 2}, {3, 1}, {4, 8}, {5, 1}});
  EXPECT_EQ(ratios(x, y, Basis::times), (std::vector<double>{2, 1}));
  EXPECT_TRUE(ratios(x, timed(2, {{7, 1}}), Basis::times).empty());
}

TEST(Judge, ComparesByTimesByTheObjectiveOrByCleanTimes) {
  Finalist x = timed(0, {{1, 8}, {2, 8}}), y = timed(1, {{1, 4}, {2, 2}});
  for (const Basis basis : {Basis::times, Basis::objective, Basis::clean})
    EXPECT_EQ(ratios(x, y, basis), (std::vector<double>{2, 4}));
  set_clean(x, {6});
  EXPECT_EQ(ratios(x, y, Basis::clean), (std::vector<double>{1.5, 3}));
  EXPECT_EQ(ratios(y, x, Basis::clean), (std::vector<double>{0.5, 0.25})) << "the other's stay as they are";
  EXPECT_EQ(ratios(x, y, Basis::objective), (std::vector<double>{2, 4}));
  for (auto& [number, round] : x.rounds) round.cost = 3;
  EXPECT_EQ(ratios(x, y, Basis::objective), (std::vector<double>{2, 4})) << "one alone has costs";
  for (auto& [number, round] : y.rounds) round.cost = 1;
  EXPECT_EQ(ratios(x, y, Basis::objective), (std::vector<double>{3, 3}));
  EXPECT_EQ(ratios(x, y, Basis::clean), (std::vector<double>{3, 3}));
  EXPECT_EQ(ratios(x, y, Basis::times), (std::vector<double>{2, 4}));
}

TEST(Judge, CallsADifferenceOfLessThanTheMarginNoLoss) {
  const Judge judge(2);
  const Finalist leader = repeated(0, {1}, 101);
  for (const std::vector<double>& times : {std::vector<double>{1.002}, {0.999, 1.001}, {1.002, 1.002, 1.002, 1.01}})
    EXPECT_TRUE(judge.ties(repeated(1, times, 101), leader)) << times.back();
  for (const std::vector<double>& times : {std::vector<double>{1.001, 1.01}, {0.99, 1.01}}) {
    EXPECT_FALSE(judge.ties(repeated(1, times, 101), leader)) << times.front();
    EXPECT_FALSE(judge.has_lost(repeated(1, times, 101), leader)) << times.front();
  }
  EXPECT_TRUE(judge.has_lost(repeated(1, {1.004}, 101), leader));
}

TEST(Judge, SaysHowMuchMayBeLostToARival) {
  const Judge judge(2);
  const Finalist spec = repeated(0, {1}, 101);
  EXPECT_NEAR(judge.loss(spec, repeated(1, {0.98}, 101)).value(), 1 / 0.98 - 1, 1e-12);
  EXPECT_EQ(judge.loss(spec, repeated(1, {1.001}, 101)), 0.0);
  EXPECT_NEAR(judge.loss(spec, repeated(1, {0.99, 1.01}, 101)).value(), 1 / 0.99 - 1, 1e-12);
  EXPECT_EQ(judge.loss(spec, repeated(1, {0.98}, 8)), std::nullopt) << "too few rounds";
  EXPECT_EQ(judge.loss(spec, repeated(1, {1.02}, 5)), 0.0) << "far behind";
}

TEST(Judge, SaysNothingAfterAFewRounds) {
  EXPECT_FALSE(Judge(2).has_lost(repeated(1, {1.2, 3}, 8), repeated(0, {1}, 8)));
  EXPECT_TRUE(Judge(2).has_lost(repeated(1, {1.2, 3}, 9), repeated(0, {1}, 9)));
  EXPECT_FALSE(Judge(24).has_lost(repeated(1, {1.2, 3}, 15), repeated(0, {1}, 15)));
  EXPECT_FALSE(Judge(2).has_lost(repeated(1, {2}, 20), timed(0, {{30, 1}})));
}

TEST(Judge, TellsWhoIsFarBehindByAFewSteadyRounds) {
  const Finalist leader = repeated(0, {1}, 5);
  EXPECT_TRUE(Judge(24).has_lost(repeated(1, {1.02, 1.024}, 5), leader));
  EXPECT_FALSE(Judge(24).has_lost(repeated(1, {1.02, 1.024}, 4), leader)) << "too few";
  EXPECT_FALSE(Judge(24).has_lost(repeated(1, {1.02, 1.026}, 5), leader)) << "not steady enough";
  EXPECT_FALSE(Judge(24).has_lost(repeated(1, {1.009}, 5), leader)) << "not far enough";
  const Finalist longer = repeated(0, {1}, 8);
  EXPECT_FALSE(Judge(24).has_lost(repeated(1, {1.6, 2.2}, 5), leader)) << "too noisy for so few";
  EXPECT_TRUE(Judge(24).has_lost(repeated(1, {1.6, 2.2}, 8), longer));
  EXPECT_FALSE(Judge(24).has_lost(repeated(1, {2, 2, 2, 2, 2, 2, 1.005}, 8), longer)) << "once as fast";
}

TEST(Judge, HardlyEverTakesEqualSpecsForFarApart) {
  Random random(6);
  int told_apart = 0;
  for (int i = 0; i < 20000; ++i) {
    Finalist x = timed(0, {}), y = timed(1, {});
    for (int round = 1; round <= 8; ++round) {
      // Now and then another program takes half of the machine.
      const auto time = [&] { return std::exp(0.1 * normal(random)) * (random.next() % 8 == 0 ? 2 : 1); };
      x.rounds[round].seconds = time(), y.rounds[round].seconds = time();
    }
    told_apart += Judge(24).has_lost(x, y) ? 1 : 0;
  }
  EXPECT_LE(told_apart, 4);
}

/// So many rounds of one second, with these costs again and again.
Finalist costing(std::int64_t mesh_idx, const std::vector<double>& costs, int count) {
  Finalist finalist = repeated(mesh_idx, {1.0}, count);
  for (auto& [number, round] : finalist.rounds) round.cost = costs[static_cast<std::size_t>(number - 1) % costs.size()];
  return finalist;
}

TEST(Judge, PrefersOfWhatItCannotTellApartTheFasterInCommonRounds) {
  const Finalist lower_median = repeated(0, {1, 1, 1, 3, 3}, 5), faster = repeated(1, {0.9, 1.1, 1.1, 2.9, 2.9}, 5);
  const std::vector<const Finalist*> specs = {&lower_median, &faster};
  EXPECT_EQ(&Judge::leader_of(specs), &lower_median);
  const Choice choice = choose_winner(Judge(2), specs, 0.01);
  EXPECT_EQ(choice.winner, &faster);
  EXPECT_FALSE(choice.decided(0.01));
}

TEST(Judge, KnowsARatioOfCostsThatIsAlwaysTheSame) {
  Judge judge(4);
  const Finalist small = costing(1, {1000}, 5), larger = costing(0, {1001}, 5);
  judge.see(std::vector<const Finalist*>{&small, &larger});
  EXPECT_TRUE(judge.has_lost(larger, small));
  EXPECT_FALSE(judge.has_lost(small, larger));
  EXPECT_NEAR(*judge.loss(larger, small), 0.001, 1e-12);
  EXPECT_EQ(judge.loss(small, larger), 0);
  EXPECT_FALSE(judge.ties(larger, small));
  EXPECT_TRUE(judge.ties(small, costing(2, {1000}, 5)));
  EXPECT_EQ(judge.loss(costing(0, {1001}, 4), costing(1, {1000}, 4)), std::nullopt) << "four rounds are too few";
  const Choice choice = choose_winner(judge, std::vector<const Finalist*>{&small, &larger}, 0.01);
  EXPECT_EQ(choice.winner, &small) << "though the other loses less than the accuracy, and has the lower number";
  EXPECT_EQ(choice.loss, 0);
  const Finalist baseline = costing(9, {1000, 1300}, 5);
  EXPECT_EQ(judge.safe_interval(small, costing(9, {500}, 5))->low, 2);
  EXPECT_EQ(judge.safe_interval(small, baseline), std::nullopt) << "it was not seen, and changes";
  // Whole numbers that chance may have repeated, as those of another spec show.
  const Finalist other = costing(3, {1000, 1001}, 5);
  judge.see(std::vector<const Finalist*>{&small, &larger, &other});
  EXPECT_FALSE(judge.has_lost(costing(4, {1200}, 5), small));
  EXPECT_EQ(judge.loss(small, larger), std::nullopt);
  EXPECT_TRUE(judge.has_lost(costing(4, {1200, 1201, 1202}, 5), other)) << "these differ far enough";
}

TEST(Judge, ComparesCostsThatAreZeroOrNegative) {
  Judge judge(2);
  const Finalist most = costing(0, {-20}, 5), less = costing(1, {-10}, 5), none = costing(2, {0}, 5);
  judge.see(std::vector<const Finalist*>{&most, &less, &none});
  EXPECT_EQ(judge.loss(less, most), 1) << "more is better: it has half of it";
  EXPECT_EQ(judge.loss(most, less), 0);
  EXPECT_EQ(judge.loss(most, none), 0);
  EXPECT_GT(*judge.loss(none, most), 1000);
  EXPECT_TRUE(judge.ties(none, costing(3, {0}, 5)));
  EXPECT_EQ(&Judge::leader_of(std::vector<const Finalist*>{&none, &less, &most}), &most);
}

TEST(Tournament, IsDecidedByNoisyCostsWhateverTheTimes) {
  Random random(5);
  std::vector<Finalist> specs = {timed(0, {}), timed(1, {}), timed(2, {})};
  Tournament tournament({&specs[0], &specs[1], &specs[2]}, kAccuracy);
  const std::vector<double> costs = {1.02, 1.0, 1.2};
  for (int round = 1; round <= SequentialIntervals::looks().back() && !tournament.decided(); ++round) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].eliminated_after > 0) continue;
      specs[i].rounds[round] = {.seconds = 3.0 - static_cast<double>(i),
                                .cost = costs[i] * std::exp(0.01 * normal(random))};
    }
    tournament.eliminate_losers(round);
  }
  ASSERT_TRUE(tournament.decided());
  EXPECT_EQ(tournament.choice().winner, &specs[1]) << "the third takes the least time";
  EXPECT_GT(specs[2].eliminated_after, 0);
  EXPECT_LT(specs[2].eliminated_after, 20);
}

TEST(Judge, HoldsThatWhoLeftHasLost) {
  Finalist gone = repeated(1, {0.5}, 20);
  gone.eliminated_after = 20;
  const Finalist leader = repeated(0, {1}, 30);
  const std::vector<const Finalist*> specs = {&gone, &leader};
  EXPECT_EQ(&Judge::leader_of(specs), &leader);
  EXPECT_TRUE(Judge(2).has_lost(gone, leader));
  EXPECT_EQ(Judge(2).loss(leader, gone), 0.0);
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
