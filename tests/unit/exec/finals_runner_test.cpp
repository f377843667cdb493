#include "exec/evaluate/finals_runner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exec/evaluate/finals_entry.h"
#include "exec/evaluate/worker_runner.h"
#include "fakes/fake_host.h"

namespace tune::finals_runner_test {
namespace {

const auto kAllRounds = static_cast<std::size_t>(SequentialIntervals::looks().back());

class FinalsRunnerTest : public testing::Test {
 protected:
  FakeHost& host() { return tuning_.host(); }

  /// Finals of the specs 1 to `specs`, whose results are in this order.
  std::vector<Finalist> finals_of(std::int64_t specs, const exec::FinalsRules& rules) {
    std::vector<wire::Contender> contenders;
    for (std::int64_t i = 1; i <= specs; ++i) contenders.push_back({{tuning_.spec(i)}});
    return exec::FinalsRunner(*service_, contenders, rules)
        .run([this](int round, std::size_t) { round_ = round; })
        .finalists;
  }
  /// Who takes part of nine specs and then a baseline, if a process loads in a second and the finals end after so many.
  std::vector<std::int64_t> loaded_within(int seconds, Backend backend, bool end_is_firm = true) {
    constexpr int kSpecs = 9;
    FakeTuning tuning(kSpecs + 1, backend);
    const auto service = tuning.service();
    tuning.host().behave = [](const FakeWorker&) { return FakeConduct{.open = std::chrono::seconds(1)}; };
    std::vector<wire::Contender> contenders;
    for (int i = 1; i <= kSpecs; ++i) contenders.push_back({{tuning.spec(i)}});
    contenders.push_back({{tuning.spec(kSpecs + 1), Entrant::Kind::baseline, "baseline"}});
    exec::FinalsRules rules;
    rules.end = tuning.host().now() + std::chrono::seconds(seconds);
    rules.end_is_firm = end_is_firm;
    std::vector<std::int64_t> loaded;
    for (const Finalist& finalist :
         exec::FinalsRunner(*service, contenders, rules).run([](int, std::size_t) {}).finalists) {
      EXPECT_FALSE(finalist.rounds.empty());
      loaded.push_back(finalist.entrant.spec.mesh_idx);
    }
    return loaded;
  }

  exec::FinalsRules by_time() {
    exec::FinalsRules rules;
    rules.end = host().now() + std::chrono::hours(1);
    return rules;
  }
  /// All rounds are held, because no loss is as small as this accuracy.
  exec::FinalsRules never_decided() {
    exec::FinalsRules rules = by_time();
    rules.accuracy = -1;
    return rules;
  }

  FakeTuning tuning_{4};
  std::unique_ptr<exec::MeasureService> service_ = tuning_.service();
  int round_ = 0;  ///< the one that ran last
};

TEST(FinalsEntry, KeepsTheCleanTimesOfRoundsThatTookLonger) {
  exec::FinalsEntry entry;
  entry.add(1, {1, 1}, {});
  entry.add(2, {3, 1}, {});
  entry.add(3, {3}, {});
  entry.add(4, {4, 2}, {});
  using Rounds = std::map<int, FinalsRound>;
  EXPECT_EQ(entry.result.rounds, (Rounds{{1, {1}}, {2, {3, 1}}, {3, {3}}, {4, {4, 2}}}));
  EXPECT_EQ(entry.result_until(3).rounds, (Rounds{{1, {1}}, {2, {3, 1}}, {3, {3}}}));
  entry.forget(2);
  EXPECT_EQ(entry.result.rounds, (Rounds{{1, {1}}, {3, {3}}, {4, {4, 2}}}));
}

TEST_F(FinalsRunnerTest, AllAreLoadedBeforeTheFirstIsTimed) {
  const auto finalists = finals_of(4, never_decided());
  for (const Finalist& finalist : finalists) EXPECT_EQ(finalist.rounds.size(), kAllRounds);
  EXPECT_EQ(host().disturbed_times(), 0);
}

TEST_F(FinalsRunnerTest, WhoHasLostLeavesWhileTheOthersGoOn) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.seconds = worker.spec == 2 ? 1.5e-3 : 1e-3}; };
  const auto finalists = finals_of(3, by_time());
  EXPECT_GT(finalists[1].eliminated_after, 0);
  EXPECT_EQ(finalists[0].eliminated_after, 0);
  EXPECT_GT(finalists[0].rounds.size(), finalists[1].rounds.size());
  EXPECT_EQ(host().disturbed_times(), 0);
}

/// Which processes opened or closed the device.
std::vector<platform::ProcessHost::Id> processes(const FakeHost& host, FakeHost::Interval::What what) {
  std::vector<platform::ProcessHost::Id> ids;
  for (const FakeHost::Interval& interval : host.intervals)
    if (interval.what == what) ids.push_back(interval.process);
  return ids;
}

TEST_F(FinalsRunnerTest, ManySpecsShareAProcessUntilFewAreLeft) {
  FakeTuning tuning(9);
  const auto service = tuning.service();
  FakeHost& host = tuning.host();
  host.behave = [](const FakeWorker& worker) { return FakeConduct{.seconds = worker.spec > 3 ? 1.5e-3 : 1e-3}; };
  std::vector<wire::Contender> contenders;
  for (int i = 1; i <= 8; ++i) contenders.push_back({{tuning.spec(i)}});
  contenders.push_back({{tuning.spec(9), Entrant::Kind::baseline, "baseline"}});
  exec::FinalsRules rules;
  rules.end = host.now() + std::chrono::hours(1);
  const auto finalists = exec::FinalsRunner(*service, contenders, rules).run([](int, std::size_t) {}).finalists;
  for (const Finalist& finalist : finalists) {
    EXPECT_FALSE(finalist.failure);
    EXPECT_EQ(finalist.eliminated_after > 0, finalist.entrant.spec.mesh_idx >= 3 && finalist.entrant.is_spec());
  }
  const std::vector<std::int64_t> again{1, 2, 3, 9};
  for (const auto& [spec, count] : host.processes_of)
    EXPECT_EQ(count, std::ranges::count(again, spec) + 1) << "of spec " << spec;
  EXPECT_EQ(processes(host, FakeHost::Interval::What::opens).size(), 5u);
  EXPECT_EQ(processes(host, FakeHost::Interval::What::closes).size(), 5u);
  EXPECT_EQ(host.disturbed_times(), 0);
}

TEST_F(FinalsRunnerTest, FewSpecsShareAProcessToTheEndWhereThatIsWanted) {
  exec::FinalsRules rules = by_time();
  rules.one_of_several = true;
  for (const Finalist& finalist : finals_of(3, rules)) EXPECT_FALSE(finalist.rounds.empty());
  for (const auto& [spec, count] : host().processes_of) EXPECT_EQ(count, 1) << "of spec " << spec;
  EXPECT_EQ(processes(host(), FakeHost::Interval::What::opens).size(), 1u);
}

/// Finals of three specs with a process that has measured the sweep; `conduct` is that of workers that measured before,
/// and `of_second` that of the second spec in others.
std::vector<Finalist> finals_after_a_sweep(FakeTuning& tuning, const FakeConduct& conduct = {},
                                           const FakeConduct& of_second = {}) {
  const auto service = tuning.service(1, true, false, true);
  {
    exec::WorkerRunner runner(*service);
    runner.start(tuning.spec(4));
    EXPECT_TRUE(runner.wait(tuning.host().now() + std::chrono::seconds(1)));
  }
  tuning.host().behave = [=](const FakeWorker& worker) {
    return worker.served > 0 ? conduct : worker.spec == 2 ? of_second : FakeConduct();
  };
  exec::FinalsRules rules;
  rules.end = tuning.host().now() + std::chrono::hours(1);
  rules.one_of_several = true;
  std::vector<wire::Contender> contenders;
  for (int i = 1; i <= 3; ++i) contenders.push_back({{tuning.spec(i)}});
  return exec::FinalsRunner(*service, contenders, rules).run([](int, std::size_t) {}).finalists;
}

TEST(FinalsAfterASweep, AreHeldInItsProcessWhichStays) {
  FakeTuning tuning(4);
  for (const Finalist& finalist : finals_after_a_sweep(tuning)) EXPECT_FALSE(finalist.rounds.empty());
  EXPECT_EQ(processes(tuning.host(), FakeHost::Interval::What::opens).size(), 1u);
  EXPECT_EQ(processes(tuning.host(), FakeHost::Interval::What::closes).size(), 0u);
  EXPECT_EQ(tuning.host().running().size(), 3u) << "one that measures, one with the reference, one that only holds";
}

TEST(FinalsAfterASweep, BlameASpecForTheEndsOfItsOwnProcesses) {
  FakeTuning tuning(4);
  const auto finalists = finals_after_a_sweep(tuning, {.ends_while_timed = true}, {.ends_while_timed = true});
  ASSERT_EQ(finalists.size(), 3u);
  for (const Finalist& finalist : finalists)
    EXPECT_EQ(finalist.failure.has_value(), finalist.entrant.spec.mesh_idx == tuning.spec(2).mesh_idx);
}

TEST(FinalsAfterASweep, BlameNobodyForTheEndOfItsProcess) {
  for (const FakeConduct& conduct : {FakeConduct{.fails_to_load = true}, FakeConduct{.ends_while_timed = true}}) {
    FakeTuning tuning(4);
    for (const Finalist& finalist : finals_after_a_sweep(tuning, conduct)) {
      EXPECT_FALSE(finalist.failure);
      EXPECT_FALSE(finalist.rounds.empty());
    }
  }
}

TEST_F(FinalsRunnerTest, OnceTheirTimeIsOverOnlyWhoIsOfInterestIsTimedInTheOtherState) {
  exec::FinalsRules rules;
  rules.end = host().now();
  rules.end_of_first_rounds = rules.end + std::chrono::hours(1);
  rules.other_state = PowerState::sustained;
  const auto timed = [&] {
    std::vector<std::int64_t> specs;
    const std::vector<wire::Contender> contenders = {{{tuning_.spec(1)}},
                                                     {{tuning_.spec(2)}},
                                                     {{tuning_.spec(3), Entrant::Kind::current_default}},
                                                     {{tuning_.spec(4), Entrant::Kind::baseline, "old"}}};
    for (const Finalist& finalist :
         exec::FinalsRunner(*service_, contenders, rules).run([](int, std::size_t) {}).finalists)
      if (finalist.other_state_seconds) specs.push_back(finalist.entrant.spec.mesh_idx);
    return specs;
  };
  const std::int64_t winner = 1, today = 2, old = 3;
  host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.seconds = worker.spec == 1 ? 1.001e-3 : worker.spec == 2 ? 1e-3 : 1.0015e-3};
  };
  rules.accuracy = 5e-4;  // they are too close for one to leave
  EXPECT_EQ(timed(), (std::vector<std::int64_t>{winner, today, old}));
  rules.end = rules.end_of_first_rounds;
  EXPECT_EQ(timed(), (std::vector<std::int64_t>{0, 1, today, old}));
}

TEST_F(FinalsRunnerTest, TimeThatEndsWhileTheLastAreLoadedAgainFailsNobody) {
  FakeTuning tuning(8);
  const auto service = tuning.service();
  tuning.host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.open = std::chrono::seconds(worker.process), .seconds = worker.spec > 3 ? 1.5e-3 : 1e-3};
  };
  std::vector<wire::Contender> contenders;
  for (int i = 1; i <= 8; ++i) contenders.push_back({{tuning.spec(i)}});
  exec::FinalsRules rules;
  rules.end = tuning.host().now() + std::chrono::seconds(3);
  for (const Finalist& finalist :
       exec::FinalsRunner(*service, contenders, rules).run([](int, std::size_t) {}).finalists) {
    EXPECT_FALSE(finalist.failure) << finalist.failure->message;
    EXPECT_FALSE(finalist.rounds.empty());
  }
  EXPECT_EQ(tuning.host().processes_of.at(1), 2);
}

TEST_F(FinalsRunnerTest, ASharedProcessThatEndsCostsARoundAndNoContender) {
  FakeTuning tuning(8);
  const auto service = tuning.service();
  FakeHost& host = tuning.host();
  host.behave = [](const FakeWorker& worker) {
    return FakeConduct{.ends_while_timed = worker.spec == 5 && worker.process == 1 && worker.rounds == 2};
  };
  std::vector<wire::Contender> contenders;
  for (int i = 1; i <= 8; ++i) contenders.push_back({{tuning.spec(i)}});
  exec::FinalsRules rules;
  rules.accuracy = -1;
  rules.end = host.now() + std::chrono::hours(1);
  const auto finalists = exec::FinalsRunner(*service, contenders, rules).run([](int, std::size_t) {}).finalists;
  for (const Finalist& finalist : finalists) {
    EXPECT_FALSE(finalist.failure);
    EXPECT_EQ(finalist.rounds.size(), kAllRounds);
    EXPECT_EQ(finalist.launches, 7 * SequentialIntervals::looks().back())
        << "the round that was held again counts once";
  }
  for (const auto& [spec, count] : host.processes_of) EXPECT_EQ(count, 2) << "of spec " << spec;
  EXPECT_EQ(processes(host, FakeHost::Interval::What::opens).size(), 9u);
}

TEST_F(FinalsRunnerTest, WhoFailsBesideOthersFailsByItselfToo) {
  FakeTuning tuning(8);
  const auto service = tuning.service();
  FakeHost& host = tuning.host();
  host.behave = [](const FakeWorker& worker) { return FakeConduct{.fails = worker.spec == 5}; };
  std::vector<wire::Contender> contenders;
  for (int i = 1; i <= 8; ++i) contenders.push_back({{tuning.spec(i)}});
  exec::FinalsRules rules;
  rules.accuracy = -1;
  rules.end = host.now() + std::chrono::hours(1);
  const auto finalists = exec::FinalsRunner(*service, contenders, rules).run([](int, std::size_t) {}).finalists;
  for (const Finalist& finalist : finalists) {
    EXPECT_EQ(finalist.failure.has_value(), finalist.entrant.spec.mesh_idx == 4);
    EXPECT_EQ(finalist.rounds.size(), finalist.failure ? 0u : kAllRounds);
  }
}

TEST_F(FinalsRunnerTest, AFinalistThatIsGoneBetweenTwoRoundsIsStartedAgain) {
  host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.ends_after_time = worker.spec == 2 && worker.process == 1 && worker.rounds == 3};
  };
  const auto finalists = finals_of(3, never_decided());
  for (const Finalist& finalist : finalists) {
    EXPECT_FALSE(finalist.failure);
    EXPECT_EQ(finalist.rounds.size(), kAllRounds);
  }
  EXPECT_EQ(host().processes_of, (std::map<std::int64_t, int>{{1, 1}, {2, 2}, {3, 1}}));
}

TEST_F(FinalsRunnerTest, OneThatFailsIsTriedAgainOnce) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.fails = worker.spec == 2}; };
  const auto finalists = finals_of(3, never_decided());
  ASSERT_TRUE(finalists[1].failure);
  EXPECT_EQ(finalists[1].failure->message, "said to have failed");
  EXPECT_TRUE(finalists[1].rounds.empty());
  EXPECT_EQ(host().processes_of.at(2), 2);
  for (const std::size_t other : {0u, 2u}) EXPECT_EQ(finalists[other].rounds.size(), kAllRounds);
}

TEST_F(FinalsRunnerTest, ADeviceThatRefusesIsNoFailureOfAFinalist) {
  host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.finds_no_device = worker.spec == 2 && worker.process <= 2};
  };
  EXPECT_FALSE(finals_of(3, never_decided())[1].failure);
  EXPECT_EQ(host().processes_of.at(2), 3);
}

TEST_F(FinalsRunnerTest, ADeviceThatRefusesThreeTimesInARowIsLost) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.finds_no_device = worker.spec == 2}; };
  EXPECT_THROW(finals_of(3, never_decided()), exec::DeviceLost);
}

TEST_F(FinalsRunnerTest, ARoundThatTimeEndsIsForgotten) {
  host().behave = [](const FakeWorker&) { return FakeConduct{.check = {}, .time = std::chrono::seconds(1)}; };
  exec::FinalsRules rules = never_decided();
  rules.end = host().now() + std::chrono::seconds(11);
  rules.end_is_firm = true;
  const auto finalists = finals_of(4, rules);
  for (const Finalist& finalist : finalists) EXPECT_EQ(finalist.rounds.size(), 2u);
  EXPECT_EQ(round_, 3) << "two finalists had their turn of the third round";
}

/// Times that are ten per cent apart from round to round, in opposite directions for odd and even specs.
double noisy_seconds(const FakeWorker& worker) { return (worker.rounds + worker.spec) % 2 == 0 ? 1.0e-3 : 1.1e-3; }

TEST_F(FinalsRunnerTest, SureRoundsOutlastTheTimeAndNoMore) {
  host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.time = std::chrono::seconds(1), .seconds = noisy_seconds(worker)};
  };
  exec::FinalsRules rules = by_time();
  rules.end_of_first_rounds = rules.end;
  rules.end = host().now() + std::chrono::seconds(1);
  EXPECT_EQ(finals_of(3, rules)[0].rounds.size(), static_cast<std::size_t>(kFirstRounds));
  rules.end_of_first_rounds = host().now() + std::chrono::seconds(11);
  EXPECT_EQ(finals_of(2, rules)[0].rounds.size(), 5u) << "unless they take longer than they may";
}

TEST_F(FinalsRunnerTest, TheWinnerMeetsTheBaselineInQuestionAloneOnceItIsKnown) {
  // The winner is 5 % slower than the baseline or as much faster, round by round.
  host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.seconds = worker.spec <= 2 ? (worker.spec == 1 ? 1.05e-3 : 1.052e-3) : noisy_seconds(worker)};
  };
  exec::FinalsRules rules = by_time();
  rules.question = wire::Question{"old", 0.03};
  std::vector<wire::Contender> contenders = {{{tuning_.spec(1)}},
                                             {{tuning_.spec(2)}},
                                             {{tuning_.spec(3), Entrant::Kind::baseline, "old"}},
                                             {{tuning_.spec(4), Entrant::Kind::baseline, "other"}}};
  const Finals finals = exec::FinalsRunner(*service_, contenders, rules).run([](int, std::size_t) {});
  const int most = SequentialIntervals::looks().back();
  EXPECT_EQ(finals.finalists[0].rounds.size(), static_cast<std::size_t>(most));
  EXPECT_EQ(finals.finalists[1].rounds.size(), static_cast<std::size_t>(finals.decided_after));
  EXPECT_LT(finals.decided_after, 16);
  EXPECT_EQ(finals.finalists[2].rounds.size(), static_cast<std::size_t>(most));
  EXPECT_EQ(finals.finalists[3].rounds.size(), 15u);
  const auto rounds = [&] {
    return exec::FinalsRunner(*service_, contenders, rules).run([](int, std::size_t) {}).finalists[0].rounds.size();
  };
  contenders[2].code = "old";
  contenders[0].code = "new";
  EXPECT_EQ(rounds(), static_cast<std::size_t>(most));
  contenders[0].code = "old";
  EXPECT_LT(rounds(), 16u) << "there is no question if both are the same code";
  contenders[0].code = "new";
  rules.question = wire::Question{"old", 0.2};
  EXPECT_LT(rounds(), 16u) << "a smaller question is answered as soon as it can be";
}

TEST_F(FinalsRunnerTest, WhoIsNotLoadedAfterHalfOfTheTimeIsLeftOut) {
  using Specs = std::vector<std::int64_t>;
  const std::int64_t baseline = 9;
  EXPECT_EQ(loaded_within(4, Backend::cpu), (Specs{0, baseline}));
  EXPECT_EQ(loaded_within(6, Backend::cpu), (Specs{0, 1, baseline}));
  EXPECT_EQ(loaded_within(1, Backend::cpu), (Specs{0, baseline})) << "two in any case";
  EXPECT_EQ(loaded_within(3, Backend::cuda).size(), 10u) << "one process opens the GPU for all";
  EXPECT_EQ(loaded_within(20, Backend::cpu).size(), 10u);
  EXPECT_EQ(loaded_within(1, Backend::cpu, false).size(), 10u) << "nobody asked for an end";
}

}  // namespace
}  // namespace tune::finals_runner_test
