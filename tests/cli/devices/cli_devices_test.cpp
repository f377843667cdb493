// Several devices, and runs that share one; the devices are fake_worker's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "exec/device/device_lock.h"
#include "fakes/fake_devices.h"

namespace tune::cli::cli_devices_test {
namespace {

TEST_F(Devices, SeveralShareTheSpecsAndTheirTimesAreScaledByACommonSpec) {
  have_devices();
  write("takes_a_while", 12);
  ASSERT_EQ(tune({"--devices", "all"}).code, 0);
  std::map<std::string, int> specs;
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl")) {
    const Measurement& measurement = *record.trial.measurement();
    ++specs[measurement.device];
    EXPECT_NEAR(measurement.timing.median, 0.001, 1e-9);
    EXPECT_NEAR(measurement.scaled, measurement.device == id_ + "a" ? 1 : 1 / 1.1, 1e-9);
  }
  EXPECT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[id_ + "a"] + specs[id_ + "b"], 12);
}

// The fake takes one millisecond on the first device, a tenth more on the second.
TEST_F(Devices, TimesOfAllAreThoseOfTheFirstInTableFilesAndFinals) {
  have_devices();
  write("takes_a_while", 12);
  const Result result = tune({"--tune", "--devices", "all", "--kt-cache", "cache.json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("\n2 devices: times of the sweep are scaled"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find(" 1.100000 "), std::string::npos) << result.out;
  const std::string csv = sandbox_.read("out.csv"), yaml = sandbox_.read("out.yaml");
  EXPECT_NE(csv.find(",device,scaled,place,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("," + id_ + "b,0.909090909,"), std::string::npos) << csv;
  EXPECT_NE(yaml.find("time_ms: 1\n"), std::string::npos) << yaml;
  EXPECT_EQ(csv.find(",1.1,"), std::string::npos) << csv;
  const std::string cache = sandbox_.read("cache.json");
  EXPECT_NE(cache.find("\"time\":1.0"), std::string::npos) << cache;
  EXPECT_EQ(cache.find("\"time\":1.1"), std::string::npos) << cache;
}

TEST_F(Devices, SeveralShareSpecsThatAreAllTooSlowToBeComparedBy) {
  have_devices();
  write("right, is_slow", 12);
  ASSERT_EQ(tune({"--filter", "BEHAVIOUR=right"}).code, 0);
  ASSERT_EQ(tune({"--tune", "--devices", "all"}).code, 0);
  const auto trials = sandbox_.trials("out.jsonl");
  ASSERT_EQ(trials.size(), 24u);
  std::set<std::string> devices;
  for (auto record = trials.begin() + 12; record != trials.end(); ++record) {
    const Measurement& measurement = *record->trial.measurement();
    EXPECT_TRUE(measurement.timing.stopped_early);
    EXPECT_NEAR(measurement.timing.median, 0.001, 1e-9);
    devices.insert(measurement.device);
  }
  EXPECT_EQ(devices, (std::set{id_ + "a", id_ + "b"}));
}

TEST_F(Devices, OneThatStillTimesTheCommonSpecIsFreeOnceTheSweepIsOver) {
  have_devices();
  write("outlives_the_sweep", 2);
  Background run(sandbox_, command("out", {"--tune", "--devices", "all"}), bin_);
  ASSERT_TRUE(eventually([&] { return !noted("finals").empty() || run.ended(); }));
  ASSERT_FALSE(run.ended()) << run.wait().err;
  EXPECT_EQ(noted("common").size(), 1u);
  EXPECT_TRUE(exec::DeviceLock(sandbox_.folder(), id_ + "b").take());
  EXPECT_FALSE(exec::DeviceLock(sandbox_.folder(), id_ + "a").take());
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().code, 130);
}

TEST_F(Devices, OneThatAdmitsOneProcessAtATimeHasNoMore) {
  std::filesystem::copy_file(bin_ / "tune-worker-cpu", bin_ / "tune-worker-cuda");
  sandbox_.environment["FAKE_DEVICES"] = "fake:" + id_ + "a:" + (sandbox_.folder() / "device").string();
  write("right, takes_a_while, fails, crashes", 4);
  std::string yaml = sandbox_.read("gemm.yaml");
  sandbox_.write("gemm.yaml", yaml.insert(yaml.find("args: "), "grid: [1], block: [1], "));
  for (const std::string isolation : {"spec", "device"}) {
    const Result result =
        sandbox_.tune_from(bin_, command(isolation, {"--tune", "--backend", "cuda", "--isolation", isolation}));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(outcomes(isolation).size(), 16u);
    EXPECT_NE(result.out.find("note: there were no finals, which need several processes at a time"), std::string::npos)
        << result.out;
  }
  EXPECT_EQ(noted("refused").size(), 0u);
}

/// Expects of the log that nothing was timed while a process started or left. Returns how often one left after a time.
int expect_undisturbed_times(const std::string& text) {
  std::istringstream log(text);
  std::string process, what;
  std::set<std::string> disturbing;
  bool timing = false;
  int batches = 0;
  for (std::string before; log >> process >> what; before = what) {
    if (what == "starts" || what == "leaves") disturbing.insert(process);
    if (what == "opened" || what == "left") disturbing.erase(process);
    if (what == "begins" || what == "ends") timing = what == "begins";
    EXPECT_FALSE(timing && !disturbing.empty()) << process << ' ' << what << " beside " << *disturbing.begin();
    batches += what == "leaves" && before == "ends";
  }
  return batches;
}

TEST_F(Batches, NothingIsTimedWhileAnotherProcessStartsOrLeaves) {
  write("pauses", 40);
  const Result result = tune({"--jobs", "8"});  // so many specs are out that a batch opens while one leaves
  ASSERT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(noted("ends").size(), 40u);
  const int batches = expect_undisturbed_times(sandbox_.read("log.txt"));
  EXPECT_LT(batches, 10) << "several are timed between two times of opening and closing";
}

TEST_F(Batches, AProcessThatEndsInItsPauseOrAfterItCostsItsOwnSpec) {
  write("pauses, crashes_in_its_pause, crashes_after_its_pause, is_ruled_out_by_its_check", 2);
  tune({"--keep-going"});
  const std::vector<std::string> expected = {"measured",         "measured",         "measure, crashed",
                                             "measure, crashed", "measure, crashed", "measure, crashed",
                                             "measured",         "measured"};
  const auto found = outcomes();
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [spec, outcome] : found)
    EXPECT_TRUE(outcome.starts_with(expected[static_cast<std::size_t>(spec)])) << spec << ": " << outcome;
}

TEST_F(Batches, OfSeveralDevicesTheOneThatAdmitsOneProcessAtATimeHasNoMore) {
  sandbox_.environment["FAKE_DEVICES"] =
      "fake:" + id_ + "a,fake:" + id_ + "b:" + (sandbox_.folder() / "device").string();
  write("takes_a_while", 24);  // more than one device opens at once
  for (const std::string devices : {"1", "all"}) {
    const Result result = sandbox_.tune_from(bin_, command(devices, {"--tune", "--devices", devices}));
    EXPECT_EQ(result.code, 0) << result.err;
    std::set<std::string> used;
    for (const wire::TrialRecord& record : sandbox_.trials(devices + ".jsonl"))
      used.insert(record.trial.measurement()->device);
    EXPECT_EQ(used.size(), devices == "1" ? 1u : 2u);
    EXPECT_EQ(result.out.find("note: there were no finals") != std::string::npos, devices == "1") << result.out;
  }
  EXPECT_EQ(noted("refused").size(), 0u);
}

TEST_F(Batches, SeveralDevicesShareWhatOneHasRoomFor) {
  have_devices();
  write("takes_a_while", 12);
  ASSERT_EQ(tune({"--devices", "all"}).code, 0);
  std::map<std::string, int> specs;
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl")) ++specs[record.trial.measurement()->device];
  EXPECT_GE(specs[id_ + "a"], 3);
  EXPECT_GE(specs[id_ + "b"], 3);
}

TEST_F(Devices, OneCanBeNamed) {
  have_devices();
  write("right", 3);
  ASSERT_EQ(tune({"--devices", "1"}).code, 0);
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
    EXPECT_EQ(record.trial.measurement()->device, id_ + "b");
}

TEST_F(Devices, WhatIsKnownOfTheDeviceIsOfTheOneThatIsNamed) {
  have_devices("fake", "other");
  write("right", 2);
  for (const std::string device : {"0", "1"}) {
    ASSERT_EQ(tune({"--tune", "--devices", device}).code, 0);
    const std::string name = device == "0" ? "fake" : "other";
    EXPECT_NE(sandbox_.read("out.yaml").find("name: " + name + "\n"), std::string::npos) << sandbox_.read("out.yaml");
  }
  EXPECT_EQ(sandbox_.trials("out.jsonl").size(), 4u) << "what one has measured is not known of the other";
}

TEST_F(Devices, RecordedTimesOfAnotherCardAreNoted) {
  have_devices();
  write("right", 2);
  EXPECT_EQ(tune({"--devices", "1"}).out.find("another card"), std::string::npos);
  EXPECT_EQ(tune({"--devices", "1"}).out.find("another card"), std::string::npos);
  write("right", 3);
  const std::string out = tune({"--devices", "0"}).out;
  EXPECT_NE(out.find("note: 2 of the times are from the journal and were measured on another card than this run's, " +
                     id_ + "a;"),
            std::string::npos)
      << out;
}

TEST_F(Devices, RecordedTimesThatAreScaledToThisCardAreItsOwn) {
  have_devices();
  write("takes_a_while", 12);
  for (int run = 0; run < 2; ++run) EXPECT_EQ(tune({"--devices", "all"}).out.find("another card"), std::string::npos);
  EXPECT_EQ(tune({"--devices", "0"}).out.find("another card"), std::string::npos);
  EXPECT_NE(tune({"--devices", "1"}).out.find("note: 12 of the times"), std::string::npos);
}

TEST_F(Devices, AnUnknownOneIsAnErrorThatListsThem) {
  have_devices();
  write("right");
  const Result result = tune({"--devices", "0,7"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(
      result.err.ends_with("tune: error: --devices 0,7: there is no device '7'; there are:\n"
                           "tune: error:   0: fake (" +
                           id_ + "a)\ntune: error:   1: fake (" + id_ + "b)\n"))
      << result.err;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "out.jsonl"));
}

TEST_F(Batches, ADryRunKnowsAnUnknownOneToo) {
  write("right", 1);
  EXPECT_EQ(tune({"--dry-run"}).code, 0);
  const Result result = tune({"--dry-run", "--devices", "9"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("there is no device '9'"), std::string::npos) << result.err;
}

TEST_F(Devices, AJournalThatKnowsAllAnswersForOneThatIsDead) {
  have_devices();
  write("right", 3);
  ASSERT_EQ(tune({"--devices", "1"}).code, 0);
  sandbox_.environment["FAKE_PROBE"] = "fails_on_the_second";
  const Result result = tune({"--devices", "1"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("note: the description of the device is from the journal"), std::string::npos)
      << result.out;
  EXPECT_EQ(tune({"--devices", "7"}).code, 2);
}

TEST_F(Devices, SeveralMustBeOfOneModel) {
  have_devices("fake", "other");
  write("right");
  const Result result = tune({"--devices", "all"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("devices of several models cannot be compared; name one model, or add --per-device-model:"),
            std::string::npos)
      << result.err;
}

TEST_F(Devices, ABackendWithoutAChoiceSaysSo) {
  write("right");
  const Result result = tune({"--devices", "0"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("the cpu backend has no devices to choose from"), std::string::npos) << result.err;
}

TEST_F(Devices, OneThatCannotBeOpenedEndsTheRunWithOneError) {
  write("finds_no_device", 8);
  const Result result = tune({"--quiet"});
  EXPECT_EQ(result.code, 4);
  const std::size_t error =
      result.err.find("tune: error: fake no longer answers: the last 3 workers could not open it: no device");
  ASSERT_NE(error, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find('\n', error), result.err.size() - 1) << result.err;
  EXPECT_TRUE(sandbox_.trials("out.jsonl").empty());
}

TEST_F(Devices, OneThatRefusesTwoInARowIsTriedAgain) {
  sandbox_.environment["FAKE_REFUSED_REFERENCE"] = "1";
  write("is_refused_twice, takes_a_while");
  EXPECT_EQ(tune({}).code, 0);
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, "measured"}, {1, "measured"}}));
  EXPECT_EQ(noted("refused reference").size(), 2u);
  EXPECT_EQ(noted("refused load").size(), 2u);
}

TEST_F(Devices, OneThatRefusesManyButNotInARowIsNotLost) {
  write("is_refused_every_other_time", 6);
  const Result result = tune({});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const auto& [mesh_idx, outcome] : outcomes()) EXPECT_EQ(outcome, "measured") << mesh_idx;
  EXPECT_EQ(outcomes().size(), 6u);
  EXPECT_EQ(noted("refuses").size(), 6u);
}

TEST_F(Devices, OneThatRefusesTwoInARowInTheFinalsIsTriedAgain) {
  write("is_refused_twice_in_finals, takes_a_while");
  sandbox_.write("log.txt", "an earlier spec measured\n");
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(noted("refused load").size(), 2u);
  EXPECT_NE(result.out.find("top_spec_idx: 0"), std::string::npos) << result.out;
}

TEST_F(Devices, OneThatIsLostInTheFinalsEndsTheRun) {
  write("loses_the_device_in_finals, takes_a_while");
  sandbox_.write("log.txt", "an earlier spec measured\n");
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 4);
  EXPECT_NE(result.err.find("fake no longer answers: the last 3 workers could not open it: no device"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(sandbox_.read("out.jsonl").find("finalists"), std::string::npos);
}

TEST_F(Batches, WhoIsLeftInTheFinalsIsTimedInTheOtherPowerStateToo) {
  write("is_slower_sustained, crashes_sustained", 1);
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("  sustained ms  "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("      2.000000  0.00"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("failed"), std::string::npos) << "one that cannot is just not known: " << result.out;
  EXPECT_NE(sandbox_.read("out.jsonl").find("\"other_state_seconds\":0.002"), std::string::npos);
  const Result other = tune({"--tune", "--state", "sustained", "--filter", "BEHAVIOUR=is_slower_sustained"});
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_NE(sandbox_.read("out.yaml").find("measure: {state: sustained}"), std::string::npos)
      << sandbox_.read("out.yaml");
}

// A process is taken to need 600 MB besides its buffers, and one that fits is kept free.
TEST_F(Batches, FinalsAreOfAsManyAsTheMemoryHoldsThePresentConfigurationAmongThem) {
  sandbox_.environment["FAKE_MEMORY"] = "2500000000";
  write("right", 6, ", default: {N: 6}");
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("note: the finals have 3 of 6 contenders: the device has memory for no more"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(noted("starts").size(), 9u);
  EXPECT_NE(result.out.find("x default"), std::string::npos) << result.out;
}

TEST_F(Batches, FinalsAreOfAsManyAsTheMemoryHoldsWithTheirWorkspaces) {
  sandbox_.environment["FAKE_MEMORY"] = "2500000000";
  write("right", 6);
  std::string yaml = sandbox_.read("gemm.yaml");
  sandbox_.write("gemm.yaml", yaml.insert(yaml.find("args: "), "workspace: N*100000000, "));
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("note: the finals have 2 of 6 contenders: the device has memory for no more"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(noted("starts").size(), 8u);
}

TEST_F(Batches, WhereTheMemoryHoldsOneThereAreNoFinals) {
  sandbox_.environment["FAKE_MEMORY"] = "1500000000";
  write("right", 4);
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("note: there were no finals, which need several processes at a time: the device has "
                            "memory for one\n"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(noted("starts").size(), 4u);
}

TEST_F(Devices, BaselinesThatFailAlikeAreEachNoted) {
  write("right, fails_in_finals", 2,
        ", baseline: [{BEHAVIOUR: fails_in_finals, N: 1}, {BEHAVIOUR: fails_in_finals, N: 2}]");
  const Result result = tune({"--tune", "--filter", "BEHAVIOUR=right"});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const std::string label : {"baseline", "baseline 2"})
    EXPECT_NE(result.out.find("note: " + label + ": said to have failed\n"), std::string::npos) << result.out;
}

TEST_F(Devices, AFailureInFinalsIsTriedTwiceOnceForAll) {
  write("right, fails_in_finals", 2);
  EXPECT_EQ(tune({}).code, 0);
  for (int run = 0; run < 2; ++run) {
    const Result result = tune({"--tune"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const std::string spec : {"2", "3"})
      EXPECT_NE(result.out.find("note: spec " + spec +
                                " failed in the finals, although the sweep found it right: said to have failed\n"),
                std::string::npos)
          << result.out;
    EXPECT_EQ(result.out.find("failures from an earlier run") == std::string::npos, run == 0) << result.out;
    EXPECT_EQ(noted("starts").size(), 4u + 2u + 2 * 2u) << "each of the two that fail is tried twice, once for all";
  }
}

TEST_F(Devices, FinalsThatNoSpecFinishesCrownNoOther) {
  write("fails_in_finals", 2);
  for (int run = 0; run < 2; ++run) {
    const Result result = tune({"--tune"});
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.out.find("all specs failed in the finals"), std::string::npos) << result.out;
  }
  for (const auto& [mesh_idx, outcome] : outcomes()) EXPECT_EQ(outcome, "measured") << mesh_idx;
}

TEST_F(Devices, TwoRunsTakeTurnsAndTheWaitingOneSaysSo) {
  have_devices();
  write("takes_a_while", 8);
  Background first(sandbox_, command("one", {}), bin_), second(sandbox_, command("two", {}), bin_);
  const Result one = first.wait(), two = second.wait();
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(outcomes("one").size() + outcomes("two").size(), 16u);
  EXPECT_NE((one.err + two.err).find("waiting for device 0, used by tune, pid "), std::string::npos) << one.err;
  std::istringstream log(sandbox_.read("log.txt"));
  std::set<std::string> launched;
  std::string process, what;
  while (log >> process >> what) {
    if (what == "begins") {
      EXPECT_TRUE(launched.empty()) << process;
      launched.insert(process);
    } else {
      launched.erase(process);
    }
  }
}

TEST_F(Batches, NothingIsTimedWhileAnotherRunOpensOrClosesTheDevice) {
  write("pauses", 20);
  Background first(sandbox_, command("one", {}), bin_), second(sandbox_, command("two", {}), bin_);
  const Result one = first.wait(), two = second.wait();
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(noted("ends").size(), 40u);
  expect_undisturbed_times(sandbox_.read("log.txt"));
}

TEST_F(Devices, AWaitingRunCanBeInterrupted) {
  have_devices();
  write("right");
  exec::DeviceLock lock(sandbox_.folder(), id_ + "a");
  ASSERT_TRUE(lock.take());
  Background run(sandbox_, command("out", {}), bin_);
  const auto waits = [&] {
    for (const std::string& file : sandbox_.files())
      if (file.ends_with(".err") && sandbox_.read(file).find("waiting for device 0") != std::string::npos) return true;
    return false;
  };
  ASSERT_TRUE(eventually(waits));
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().code, 130);
}

}  // namespace
}  // namespace tune::cli::cli_devices_test
