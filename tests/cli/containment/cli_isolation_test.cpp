// Processes that measure one spec after the other, and what is measured again in a process of its own; the devices are
// fake_worker's.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "fakes/fake_devices.h"
#include "support/has.h"

namespace tune::cli::cli_isolation_test {
namespace {

class Isolation : public Batches {
 protected:
  Result tune_auto(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--isolation", "auto"});
    return tune(more);
  }
  /// The last record of each spec.
  std::map<std::int64_t, Measurement> measurements() const {
    std::map<std::int64_t, Measurement> measurements;
    for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
      if (const Measurement* measurement = record.trial.measurement())
        measurements[record.trial.spec.mesh_idx] = *measurement;
    return measurements;
  }
  std::ptrdiff_t shared() const {
    return std::ranges::count_if(measurements(), [](const auto& entry) { return entry.second.shared; });
  }
};

TEST_F(Isolation, EachSpecHasAProcessUnlessTheyAreShared) {
  write("right", 6);
  EXPECT_EQ(tune({}).code, 0);
  EXPECT_EQ(noted("starts").size(), 6u);
  EXPECT_EQ(shared(), 0);
  EXPECT_FALSE(has(sandbox_.read("out.csv"), ",process\n"));
  for (const std::string name : {"auto", "device"}) {
    std::filesystem::remove(sandbox_.folder() / "out.jsonl");
    std::filesystem::remove(sandbox_.folder() / "log.txt");
    EXPECT_EQ(tune({"--isolation", name}).code, 0);
    EXPECT_LE(noted("starts").size(), 2u);
    EXPECT_EQ(shared(), 6 - std::ssize(noted("starts")));
    EXPECT_TRUE(has(sandbox_.read("out.csv"), ",process\n"));
    EXPECT_TRUE(has(sandbox_.read("out.csv"), ",own\n"));
    EXPECT_TRUE(has(sandbox_.read("out.csv"), ",shared\n"));
    EXPECT_TRUE(has(sandbox_.read("out.jsonl"), R"("process":"shared")"));
  }
}

TEST_F(Isolation, AProcessGoesOnToTheNextSize) {
  write("right", 4);
  sandbox_.write("sizes.yaml", "- {M: 8, N: 8, K: 8}\n- {M: 16, N: 8, K: 8}\n- {M: 8, N: 16, K: 8}\n");
  const Result result = tune_auto({"--tune", "--shapes", "sizes.yaml"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(has(result.out, "3 of 3 shapes tuned")) << result.out;
  EXPECT_LE(noted("starts").size(), 2u) << "one for a spot check";
}

TEST_F(Devices, WithoutAGpuEachSpecHasAProcessAlways) {
  write("right", 6);
  EXPECT_EQ(tune({"--isolation", "auto"}).code, 0);
  EXPECT_EQ(noted("starts").size(), 6u);
}

TEST_F(Isolation, ASharedProcessIsReplacedOnceASpecFailsInIt) {
  write("right, fails, crashes, takes_a_while");
  const Result result = tune_auto({"--keep-going"});  // the file has no kernel: whoever fails first would end it
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const auto all = outcomes();
  EXPECT_EQ(all.at(0), "measured");
  EXPECT_EQ(all.at(1), "check, reported: said to have failed");
  EXPECT_EQ(all.at(2), "check, crashed: killed by signal 9 (killed)");
  EXPECT_EQ(all.at(3), "measured");
}

TEST_F(Isolation, WhatFailsInASharedProcessIsTriedInAFreshOne) {
  write("right, fails_if_reused, crashes_if_reused, hangs_if_reused", 3, ", measure: {max_seconds: 0.1}");
  const Result result = sandbox_.tune_from(
      bin_, {"gemm.yaml", "--output", "out", "--timeout-run", "1", "--isolation", "auto", "--keep-going"});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const auto& [mesh_idx, outcome] : outcomes()) EXPECT_EQ(outcome, "measured") << mesh_idx;
  EXPECT_EQ(outcomes().size(), 12u);
}

TEST_F(Isolation, WhatSharedProcessesMeasuredCountsOnlyWhereTheyAreShared) {
  write("right", 6);
  ASSERT_EQ(tune_auto().code, 0);
  const auto before = noted("starts").size();
  const auto were_shared = static_cast<std::size_t>(shared());
  EXPECT_EQ(tune_auto().code, 0);
  EXPECT_EQ(noted("starts").size(), before);
  EXPECT_EQ(tune({}).code, 0);
  EXPECT_EQ(noted("starts").size(), before + were_shared);
  EXPECT_EQ(shared(), 0);
  EXPECT_EQ(tune_auto().code, 0);
  EXPECT_EQ(noted("starts").size(), before + were_shared);
}

TEST_F(Isolation, AFewOfManyAreMeasuredAgainInProcessesOfTheirOwn) {
  write("right", 24);
  const Result result = tune_auto();
  EXPECT_EQ(result.code, 0) << result.err;
  const auto started = std::ssize(noted("starts"));
  EXPECT_GE(started, 3);  // two at a time, and one of the first twenty
  EXPECT_LE(started, 4);
  EXPECT_EQ(shared(), 24 - started);
  EXPECT_FALSE(has(result.out, "note: spec")) << result.out;
}

TEST_F(Isolation, ATimeThatAFreshProcessDoesNotConfirmEndsTheSharing) {
  write("is_twice_as_fast_if_reused", 24);
  const Result result = tune_auto({"--tune", "--t4", "t4.json", "--kt-cache", "cache.json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string why =
      " took 0.5 ms in a process that others had used and 1 ms in one of its own; from then on every spec had a "
      "process "
      "of its own, and the specs before were measured again: ";
  EXPECT_TRUE(has(result.out, why)) << result.out;
  EXPECT_EQ(result.out.find("note: spec "), result.out.rfind("note: spec ")) << result.out;
  EXPECT_TRUE(has(result.err, "; from here on every spec has a process of its own\n")) << result.err;
  ASSERT_EQ(measurements().size(), 24u);
  for (const auto& [mesh_idx, measurement] : measurements()) {
    EXPECT_FALSE(measurement.shared) << mesh_idx;
    EXPECT_NEAR(measurement.timing.median, 0.001, 1e-9) << mesh_idx;
  }
  EXPECT_FALSE(has(sandbox_.read("out.csv"), ",process\n"));
  for (const char* file : {"t4.json", "cache.json"}) {
    const Result replayed = sandbox_.tune({"gemm.yaml", "--simulate", file, "--top", "all"});
    EXPECT_TRUE(has(replayed.out, "Number of valid specs: 24\n")) << file << replayed.out << replayed.err;
    EXPECT_FALSE(has(replayed.out, " 0.500000 ")) << file << replayed.out;
  }
}

TEST_F(Isolation, ADisagreementHoldsForTheRunsThatContinueTheJournal) {
  write("is_twice_as_fast_if_reused", 24);
  ASSERT_EQ(tune_auto().code, 0);
  const std::string journal = sandbox_.read("out.jsonl");
  const auto disagreement = journal.find("\"record\":\"distrust\"");
  ASSERT_NE(disagreement, std::string::npos);
  sandbox_.write("out.jsonl", journal.substr(0, journal.find('\n', disagreement) + 1));
  ASSERT_GT(shared(), 0);
  const std::string note = "note: every spec had a process of its own, because in an earlier run spec ";
  const Result result = tune_auto();
  EXPECT_TRUE(has(result.out, note)) << result.out;
  EXPECT_EQ(measurements().size(), 24u);
  EXPECT_EQ(shared(), 0);
  EXPECT_FALSE(has(tune_auto({"--fresh"}).out, note));
}

TEST_F(Isolation, AnAgentTellsOfTheDisagreementsOfEachSize) {
  write("is_twice_as_fast_if_reused", 60);  // twenty of them in shared processes, however busy the machine is
  sandbox_.write("sizes.yaml", "- {M: 8, N: 8, K: 8}\n- {M: 16, N: 8, K: 8}\n");
  const Result result = tune_auto({"--tune", "--shapes", "sizes.yaml", "--no-finals", "--launcher", "{agent}",
                                   "--agents", "1", "--listen", "127.0.0.1"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const std::string journal = sandbox_.read("out.jsonl"), record = "\"record\":\"distrust\"";
  EXPECT_NE(journal.find(record), journal.rfind(record)) << journal;
}

TEST_F(Isolation, AFailureInAFreshProcessEndsTheSharingToo) {
  sandbox_.write("gemm.cu", "");
  sandbox_.write("gemm.yaml",
                 "{name: gemm, file: gemm.cu, kernel: gemm, problem: {gemm: {m: 8, n: 8, k: 8}},\n"
                 "params: [{BEHAVIOUR: right, $N: {range: [1, 4]}}, {BEHAVIOUR: fails_unless_reused, $N: {range: [5, "
                 "26]}}], launch: {grid: [1], block: [1], args: [A, B, C, m, n, k]}}\n");
  const Result result = tune_auto({"--keep-going"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out,
                  " could be measured in a process that others had used, but fails in one of its own: said to have "
                  "failed; from then on every spec had a process of its own"))
      << result.out;
  int failed = 0;
  for (const auto& [mesh_idx, outcome] : outcomes()) failed += outcome.ends_with("said to have failed");
  EXPECT_EQ(failed, 22);
}

TEST_F(Isolation, TheBestIsOfAProcessOfItsOwnAlsoWhereThereAreNoFinals) {
  sandbox_.environment["FAKE_MEMORY"] = "1000000000";
  write("is_twice_as_fast_if_reused", 6);
  const Result result = tune_auto({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "note: there were no finals")) << result.out;
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "time_ms: 1\n")) << sandbox_.read("out.yaml");
  EXPECT_EQ(shared(), 0);
}

TEST_F(Isolation, ADeviceThatAdmitsOneProcessHasNoMoreWhenOneIsMeasuredAgain) {
  sandbox_.environment["FAKE_DEVICES"] = "fake:" + id_ + "a:" + (sandbox_.folder() / "device").string();
  write("right, is_twice_as_fast_if_reused", 24);
  EXPECT_EQ(tune_auto({"--tune"}).code, 0);
  EXPECT_EQ(measurements().size(), 48u);
  EXPECT_EQ(noted("refused").size(), 0u);
}

TEST_F(Isolation, OfSeveralDevicesEachHasItsSharedProcesses) {
  have_devices();
  write("takes_a_while", 30);
  const Result result = tune_auto({"--tune", "--devices", "all"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(has(result.out, "note: spec")) << result.out;
  std::map<std::string, int> shared;
  ASSERT_EQ(measurements().size(), 30u);
  for (const auto& [mesh_idx, measurement] : measurements()) {
    shared[measurement.device] += measurement.shared;
    EXPECT_NEAR(measurement.timing.median, 0.001, 1e-9) << mesh_idx;
  }
  EXPECT_GT(shared[id_ + "a"], 0);
  EXPECT_GT(shared[id_ + "b"], 0);
}

TEST_F(Isolation, RunsOfBothKindsShareADeviceToTheirEnd) {
  write("right, pauses, fails_if_reused", 3);
  Background first(sandbox_, command("one", {"--tune", "--isolation", "auto"}), bin_);
  Background second(sandbox_, command("two", {"--tune"}), bin_);
  Background third(sandbox_, command("three", {"--tune", "--isolation", "auto"}), bin_);
  for (Background* run : {&first, &second, &third}) {
    const Result result = run->wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  for (const std::string name : {"one", "two", "three"}) {
    EXPECT_EQ(outcomes(name).size(), 9u) << name;
    EXPECT_TRUE(has(sandbox_.read(name + ".jsonl"), R"("record":"finals")")) << name;
  }
}

TEST_F(Isolation, ARunThatMostlyOpensGpusSaysWhatSharingWouldSave) {
  write("opens_slowly", 8);
  const std::string advice = "; --isolation auto would save most of the ";
  EXPECT_TRUE(has(tune({}).err, advice));
  std::filesystem::remove(sandbox_.folder() / "out.jsonl");
  EXPECT_FALSE(has(tune_auto().err, advice));
}

}  // namespace
}  // namespace tune::cli::cli_isolation_test
