#include "exec/evaluate/worker_runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "fakes/fake_host.h"
#include "platform/store/store_care.h"

namespace tune::worker_runner_test {
namespace {

using namespace std::chrono_literals;

class WorkerRunnerTest : public testing::Test {
 protected:
  void begin(int devices = 1, bool share_processes = false) {
    service_ = tuning_.service(devices, share_processes);
    runner_.emplace(*service_);
  }
  FakeHost& host() { return tuning_.host(); }

  /// The trials of the specs 1 to `specs`, by their numbers.
  std::map<std::int64_t, Trial> trials_of(std::int64_t specs) {
    std::map<std::int64_t, Trial> trials;
    for (std::int64_t next = 1; trials.size() < static_cast<std::size_t>(specs);) {
      for (; next <= specs && runner_->free_slots() > 0; ++next) runner_->start(tuning_.spec(next));
      if (auto trial = runner_->wait(host().now() + std::chrono::seconds(1)))
        trials.emplace(trial->spec.mesh_idx + 1, std::move(*trial));
    }
    return trials;
  }

  FakeTuning tuning_{40};
  std::unique_ptr<exec::MeasureService> service_;
  std::optional<exec::WorkerRunner> runner_;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const exec::DeviceLost& error) {
    return error.what();
  }
  return "";
}

TEST_F(WorkerRunnerTest, EverySpecBecomesATrial) {
  begin();
  for (const auto& [spec, trial] : trials_of(12)) EXPECT_NE(trial.measurement(), nullptr) << spec;
  EXPECT_EQ(host().disturbed_times(), 0);
  EXPECT_NEAR(runner_->usage().stages.of(Stage::measure), 12 * 0.005, 1e-9);
  EXPECT_GT(runner_->usage().idle_seconds, 0);
}

/// Where processes find the reference, on a device that admits one process and so cannot keep it.
std::string reference_of(Backend backend) {
  FakeTuning tuning{1, backend};
  const auto service = tuning.service(1, false, true);
  exec::WorkerRunner runner(*service);
  runner.start(tuning.spec(1));
  EXPECT_TRUE(runner.wait(tuning.host().now() + std::chrono::seconds(1)));
  EXPECT_TRUE(std::filesystem::exists(tuning.host().reference));
  return tuning.host().reference;
}

// A worker of a GPU opens it after it has given up what it could look for it by; a CPU kernel could remove its name.
TEST(References, HaveANameOnGpusAlone) {
  EXPECT_TRUE(reference_of(Backend::cuda).ends_with("/reference"));
  EXPECT_TRUE(reference_of(Backend::hip).ends_with("/reference"));
  EXPECT_TRUE(reference_of(Backend::cpu).starts_with("/proc/"));
}

/// How many processes of this mode the host has started.
std::int64_t started(const FakeHost& host, const std::string& mode) { return std::ranges::count(host.modes, mode); }

/// Two tunings of 12 specs, of which the second may have the processes of the first.
std::vector<std::map<std::int64_t, Trial>> two_tunings(FakeTuning& tuning, bool share_processes,
                                                       bool one_process = false) {
  std::vector<std::map<std::int64_t, Trial>> trials;
  while (trials.size() < 2) {
    const auto service = tuning.service(1, share_processes, one_process, true);
    exec::WorkerRunner runner(*service);
    auto& of_this = trials.emplace_back();
    for (std::int64_t spec = 1; spec <= 12; ++spec) runner.start(tuning.spec(spec));
    while (of_this.size() < 12)
      if (auto trial = runner.wait(tuning.host().now() + std::chrono::seconds(1)))
        of_this.emplace(trial->spec.mesh_idx + 1, std::move(*trial));
  }
  return trials;
}

TEST(RestingProcesses, MeasureTheNextTuning) {
  FakeTuning tuning{40};
  for (const auto& trials : two_tunings(tuning, true))
    for (const auto& [spec, trial] : trials) EXPECT_NE(trial.measurement(), nullptr) << spec;
  EXPECT_LE(started(tuning.host(), "measure"), 3) << "but for the first, they are for spot checks";
  EXPECT_EQ(started(tuning.host(), "reference"), 1);
  EXPECT_EQ(started(tuning.host(), "hold"), 1);
  EXPECT_EQ(tuning.host().references, 2);
  EXPECT_EQ(tuning.host().disturbed_times(), 0);
}

TEST(RestingProcesses, OnlyMakeReferencesWhereEachSpecHasAProcess) {
  FakeTuning tuning{40};
  for (const auto& trials : two_tunings(tuning, false))
    for (const auto& [spec, trial] : trials) EXPECT_FALSE(trial.measurement()->shared) << spec;
  EXPECT_EQ(started(tuning.host(), "measure"), 24);
  EXPECT_EQ(started(tuning.host(), "reference"), 1);
  EXPECT_EQ(tuning.host().references, 2);
}

TEST(RestingProcesses, AreNoneOnADeviceThatAdmitsOne) {
  FakeTuning tuning{40};
  two_tunings(tuning, true, true);
  EXPECT_EQ(started(tuning.host(), "reference"), 2);
}

/// Asks for eight builds, later than for what a tuning wants: `key 0` to `key 7`.
void want_later(exec::MeasureService& service, const FakeTuning& tuning) {
  for (int i = 0; i < 8; ++i)
    EXPECT_TRUE(
        service.builds().builder().want_later(fmt::format("key {}", i), tuning.requests().build(tuning.spec(1))));
}

TEST(BuildsOfSeveralTunings, GoOnBetweenThem) {
  FakeTuning tuning{40};
  tuning.host().build_time = 50ms;
  {
    const auto service = tuning.service(1, false, false, true);
    want_later(*service, tuning);
    exec::WorkerRunner runner(*service);
    runner.start(tuning.spec(1));
    EXPECT_TRUE(runner.wait(tuning.host().now() + 1s));
    EXPECT_EQ(service->builds().builder().running(), 4);
  }
  const auto service = tuning.service(1, false, false, true);
  service->finish_builds();
  EXPECT_NE(service->builds().builder().find("key 7"), nullptr);
  EXPECT_EQ(started(tuning.host(), "build"), 9) << "each once";
}

TEST(BuildsOfSeveralTunings, EndWithTheCommand) {
  FakeTuning tuning{40};
  tuning.host().build_time = 50ms;
  {
    const auto service = tuning.service(1, false, false, true);
    want_later(*service, tuning);
    service->builds().builder().start_queued();
  }
  const auto artifacts = [&] {
    const std::filesystem::recursive_directory_iterator files(tuning.folder() / "store");
    return std::ranges::count_if(files, [](const auto& file) { return file.path().filename() == "artifact"; });
  };
  EXPECT_EQ(artifacts(), 4);
  tuning.end_processes();
  EXPECT_EQ(artifacts(), 0);
}

TEST(BuildsOfSeveralTunings, OfATuningThatHasEndedAreForgotten) {
  FakeTuning tuning{40};
  tuning.host().build_time = 50ms;
  const auto request = tuning.requests().build(tuning.spec(1));
  {
    const auto service = tuning.service(1, false, false, true);
    exec::Builder& builder = service->builds().builder();
    for (int i = 0; i < 8; ++i) builder.want(fmt::format("wanted {}", i), request);
    want_later(*service, tuning);
    builder.start_queued();
  }
  const auto service = tuning.service(1, false, false, true);
  service->finish_builds();
  exec::Builder& builder = service->builds().builder();
  EXPECT_NE(builder.find("wanted 3"), nullptr) << "as many as may run at once had begun";
  EXPECT_EQ(builder.find("wanted 4"), nullptr);
  EXPECT_NE(builder.find("key 7"), nullptr);
}

TEST(WorkerPools, HearASignalThatCameWhileNothingWasWaitedFor) {
  exec::WorkerPool pool("worker", {});
  pool.heed_signals();
  ::raise(SIGTERM);
  EXPECT_THROW(pool.heed_signals(), exec::Interrupted);
}

TEST(BuildsOfSeveralTunings, WarnWhoIsThereToHearIt) {
  struct Listener : exec::RunObserver {
    std::vector<std::string> warnings;
    void warning(const std::string& text) override { warnings.push_back(text); }
  } listener;
  FakeTuning tuning{40};
  tuning.host().reads = {"/somewhere/unknown.h"};
  {
    const auto service = tuning.service(1, false, false, true);
    want_later(*service, tuning);
    service->finish_builds();
  }
  const auto service = tuning.service(1, false, false, true);
  service->builds().builder().inputs().tell(&listener);
  ASSERT_EQ(listener.warnings.size(), 1u);
  EXPECT_TRUE(listener.warnings.front().starts_with("builds read /somewhere/unknown.h: "));
}

TEST(BuildsOfSeveralTunings, WaitForThoseOfTheTuningThatGoesOn) {
  FakeTuning tuning{40};
  tuning.host().build_time = 50ms;
  const auto service = tuning.service();
  exec::Builder& builder = service->builds().builder();
  want_later(*service, tuning);
  builder.want("key 7", tuning.requests().build(tuning.spec(1)));
  builder.start_queued();
  while (builder.running() > 0) service->handle(*service->wait(std::nullopt));
  EXPECT_NE(builder.find("key 7"), nullptr);
  EXPECT_NE(builder.find("key 2"), nullptr);
  EXPECT_EQ(builder.find("key 3"), nullptr) << "as many as may run at once are built";
}

TEST(RestingProcesses, ThatEndAreReplaced) {
  FakeTuning tuning{40};
  tuning.host().behave = [&](const FakeWorker& worker) {
    const bool is_second = tuning.host().references == 2;
    return FakeConduct{.ends_while_timed = is_second && worker.served > 0 && worker.spec == 1};
  };
  for (const auto& trials : two_tunings(tuning, true))
    for (const auto& [spec, trial] : trials) EXPECT_NE(trial.measurement(), nullptr) << spec;
  EXPECT_EQ(started(tuning.host(), "reference"), 1);
}

TEST(RestingProcesses, ThatCannotMakeAReferenceAreReplaced) {
  FakeTuning tuning{40};
  tuning.host().fails_second_reference = true;
  for (const auto& trials : two_tunings(tuning, true))
    for (const auto& [spec, trial] : trials) EXPECT_NE(trial.measurement(), nullptr) << spec;
  EXPECT_EQ(started(tuning.host(), "reference"), 2);
}

TEST(RestingProcesses, AreTheOnlyOnesThatATuningLeaves) {
  FakeTuning tuning{40};
  {
    const auto service = tuning.service(1, true, false, true);
    exec::WorkerRunner runner(*service);
    for (std::int64_t spec = 1; spec <= 12; ++spec) runner.start(tuning.spec(spec));
    EXPECT_TRUE(runner.wait(tuning.host().now() + std::chrono::seconds(1)));
  }
  EXPECT_EQ(tuning.host().running().size(), 2u) << "of the reference, and who holds the device open";
}

TEST_F(WorkerRunnerTest, WhatFailsInAReusedProcessIsTriedAgainInAFreshOne) {
  std::set<platform::ProcessHost::Id> failed;  // the second process is idle when the third spec fails in the first
  host().behave = [&](const FakeWorker& worker) {
    const bool fails = worker.spec == 3 && worker.served > 0;
    if (fails) failed.insert(worker.id);
    return FakeConduct{.fails = fails};
  };
  begin(1, true);
  const auto trials = trials_of(3);
  for (const auto& [spec, trial] : trials) EXPECT_NE(trial.measurement(), nullptr) << spec;
  EXPECT_FALSE(trials.at(3).measurement()->shared);
  EXPECT_EQ(failed.size(), 1u);
  EXPECT_EQ(runner_->distrust(), "");
}

TEST_F(WorkerRunnerTest, ASpecThatFailsInAProcessOfItsOwnHasFailed) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.fails = worker.spec == 3}; };
  begin(1, true);
  const auto trials = trials_of(6);
  ASSERT_NE(trials.at(3).failure(), nullptr);
  EXPECT_EQ(trials.at(3).failure()->message, "said to have failed");
  EXPECT_EQ(host().processes_of.at(3), 1) << "once in a process of its own";
}

TEST_F(WorkerRunnerTest, AnArtifactThatIsRemovedBeforeItIsLoadedIsBuiltAgain) {
  host().behave = [](const FakeWorker& worker) {
    if (worker.spec == 3 && worker.process <= 2) std::filesystem::remove(worker.artifact);
    return FakeConduct();
  };
  begin();
  for (const auto& [spec, trial] : trials_of(6)) EXPECT_NE(trial.measurement(), nullptr) << spec;
  EXPECT_EQ(host().processes_of.at(3), 3);
}

TEST_F(WorkerRunnerTest, AnArtifactThatIsReplacedBeforeItIsLoadedIsLoadedAgain) {
  host().behave = [](const FakeWorker& worker) {
    FakeConduct conduct;
    if (worker.spec != 3 || worker.process > 1) return conduct;
    const std::filesystem::path entry = std::filesystem::path(worker.artifact).parent_path();
    const std::filesystem::path other = entry.string() + ".other";
    std::filesystem::copy(entry, other);
    std::filesystem::remove_all(entry);
    std::filesystem::rename(other, entry);
    conduct.fails_to_load = true;
    return conduct;
  };
  begin();
  for (const auto& [spec, trial] : trials_of(6)) EXPECT_NE(trial.measurement(), nullptr) << spec;
  EXPECT_EQ(host().processes_of.at(3), 2);
}

// A kernel may remove its own.
TEST_F(WorkerRunnerTest, AnArtifactThatIsRemovedEachTimeFails) {
  host().behave = [](const FakeWorker& worker) {
    if (worker.spec == 3) std::filesystem::remove(worker.artifact);
    return FakeConduct();
  };
  begin();
  const auto trials = trials_of(6);
  ASSERT_NE(trials.at(3).failure(), nullptr);
  EXPECT_EQ(trials.at(3).failure()->message, "said to have failed to load");
  EXPECT_EQ(host().processes_of.at(3), 4);
}

TEST_F(WorkerRunnerTest, AStoreThatIsClearedAgainAndAgainEndsNoRun) {
  begin();
  std::atomic<bool> ended = false;
  std::thread clearing([&] {
    while (!ended)
      for (const auto& entry : platform::entries_of(tuning_.folder() / "store")) platform::remove_entry(entry);
  });
  for (int i = 0; i < 2; ++i) EXPECT_NO_THROW(trials_of(40));
  ended = true;
  clearing.join();
}

TEST_F(WorkerRunnerTest, ATimeThatAFreshProcessDoesNotConfirmEndsTheSharing) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.seconds = worker.served > 0 ? 0.5e-3 : 1e-3}; };
  begin(1, true);
  std::set<std::int64_t> shared;
  while (runner_->distrust().empty())
    for (const auto& [spec, trial] : trials_of(12))
      if (trial.measurement()->shared) shared.insert(spec);
  EXPECT_NE(runner_->distrust().find("took 0.5 ms in a process that others had used and 1 ms in one of its own"),
            std::string::npos);
  for (const auto& [spec, trial] : trials_of(12)) EXPECT_FALSE(trial.measurement()->shared) << spec;
  EXPECT_FALSE(shared.empty());
}

TEST_F(WorkerRunnerTest, ADeviceThatRefusesTwiceIsTriedAgain) {
  host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.finds_no_device = worker.spec == 1 && worker.process <= 2};
  };
  begin();
  EXPECT_NE(trials_of(1).at(1).measurement(), nullptr);
  EXPECT_EQ(host().processes_of.at(1), 3);
}

TEST_F(WorkerRunnerTest, ADeviceThatRefusesThreeTimesInARowIsLost) {
  host().behave = [](const FakeWorker&) { return FakeConduct{.finds_no_device = true}; };
  begin();
  EXPECT_EQ(
      message_of([&] { trials_of(3); }),
      "card (device 0, card 0) no longer answers: the last 3 workers could not open it: no device; the results so "
      "far are in the journal, and the same command continues from there once it does");
}

TEST_F(WorkerRunnerTest, TimesOfTwoDevicesAreScaledByTheCommonSpec) {
  host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.seconds = static_cast<double>(worker.spec) * 1e-3 * (worker.device == 1 ? 1.25 : 1)};
  };
  begin(2);
  std::map<std::string, int> specs;
  for (const auto& [spec, trial] : trials_of(12)) {
    const Measurement& measurement = *trial.measurement();
    EXPECT_NEAR(measurement.timing.median, static_cast<double>(spec) * 1e-3, 1e-12) << spec;
    EXPECT_NEAR(measurement.scaled, measurement.device == "card 1" ? 0.8 : 1, 1e-12) << spec;
    ++specs[measurement.device];
  }
  EXPECT_GT(specs["card 0"], 0);
  EXPECT_GT(specs["card 1"], 0);
}

TEST_F(WorkerRunnerTest, ACommonSpecThatFailsOnOneDeviceEndsTheRun) {
  host().behave = [](const FakeWorker& worker) { return FakeConduct{.fails = worker.device == 1}; };
  begin(2);
  const std::string message = message_of([&] { trials_of(12); });
  EXPECT_TRUE(
      message.starts_with("card (device 1, card 1) no longer answers: what the first device could time fails on "
                          "it: said to have failed"))
      << message;
}

TEST_F(WorkerRunnerTest, ACommonSpecThatFailsOnTheFirstDeviceMakesWayForAnother) {
  host().behave = [](const FakeWorker& worker) {
    return FakeConduct{.seconds = worker.device == 1 ? 2e-3 : 1e-3, .fails = worker.spec == 1};
  };
  begin(2);
  const auto trials = trials_of(12);
  EXPECT_NE(trials.at(1).failure(), nullptr);
  for (std::int64_t spec = 2; spec <= 12; ++spec) {
    ASSERT_NE(trials.at(spec).measurement(), nullptr) << spec;
    EXPECT_NEAR(trials.at(spec).measurement()->timing.median, 1e-3, 1e-12) << spec;
  }
}

TEST_F(WorkerRunnerTest, ACommonSpecThatTheFirstDeviceStopsEarlyMakesWayForAnother) {
  host().behave = [](const FakeWorker& worker) {
    const double slower = worker.spec == 1 ? 6 : 2;
    return FakeConduct{.seconds = worker.device == 1 ? slower * 1e-3 : 1e-3, .stops_early = worker.spec == 1};
  };
  begin(2);
  std::set<std::string> devices;
  for (const auto& [spec, trial] : trials_of(40)) {
    EXPECT_NEAR(trial.measurement()->timing.median, 1e-3, 1e-12) << spec;
    devices.insert(trial.measurement()->device);
  }
  EXPECT_EQ(devices.size(), 2u);
}

// The recorded best is timed again, but what was asked for ends first.
TEST_F(WorkerRunnerTest, ACommonSpecThatIsDismissedMakesWayForAnother) {
  host().behave = [](const FakeWorker& worker) {
    FakeConduct conduct{.seconds = worker.device == 1 ? 2e-3 : 1e-3, .fails_to_load = worker.spec == 2};
    if (worker.spec == 1) conduct.open = std::chrono::seconds(1);
    return conduct;
  };
  begin(2);
  runner_->set_best({tuning_.spec(1), Measurement{}, 0, true}, 1e-3, 0);
  runner_->start(tuning_.spec(2));
  EXPECT_TRUE(runner_->wait(host().now() + std::chrono::milliseconds(500)));
  for (std::int64_t spec = 3; spec <= 12; ++spec) runner_->start(tuning_.spec(spec));
  for (std::int64_t spec = 3; spec <= 12; ++spec) {
    const auto trial = runner_->wait(host().now() + std::chrono::seconds(9));
    ASSERT_TRUE(trial) << "a result is held back for ever";
    EXPECT_NEAR(trial->measurement()->timing.median, 1e-3, 1e-12);
  }
}

}  // namespace
}  // namespace tune::worker_runner_test
