// --per-device-model: devices of several models, on this machine and on several; the devices are fake_worker's.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "fakes/fake_devices.h"
#include "support/has.h"

namespace tune::cli::cli_device_models_test {
namespace {

class DeviceModels : public Devices {
 protected:
  /// The indices of the specs that were timed on each device.
  std::map<std::string, std::multiset<std::int64_t>> timed() const {
    std::map<std::string, std::multiset<std::int64_t>> timed;
    for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
      timed[record.trial.measurement()->device].insert(record.trial.spec.mesh_idx);
    return timed;
  }

  /// A card of each model in the first machine; another one of the first model in the second.
  static std::vector<std::string> on_two_machines(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "--tune",
        "--no-finals",
        "--listen",
        "127.0.0.1",
        "--agents",
        "2",
        "--launcher",
        "for i in 1 2; do mkdir -p n$i; done; "
        "TUNE_LOCKS=$PWD/n1 XDG_CACHE_HOME=$PWD/n1 FAKE_DEVICES=big:n1b,small:n1s {agent} & "
        "TUNE_LOCKS=$PWD/n2 XDG_CACHE_HOME=$PWD/n2 FAKE_DEVICES=big:n2b {agent} & wait"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(DeviceModels, HaveAResultEach) {
  have_devices("big card", "small");
  write("right", 3);
  const Result result = tune({"--tune", "--no-finals", "--per-device-model"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\nDevice models: 2 of 2 tuned\n"));
  EXPECT_TRUE(has(result.out, "\ndatabase: out.db.yaml\n"));
  EXPECT_TRUE(has(result.out, "3 of 3, no finals, as big card\n"));
  const std::multiset<std::int64_t> all = {0, 1, 2};
  EXPECT_EQ(timed(), (std::map<std::string, std::multiset<std::int64_t>>{{id_ + "a", all}, {id_ + "b", all}}));
  EXPECT_TRUE(has(sandbox_.read("out-big_card.yaml"), "device:\n  name: big card\n"));
  EXPECT_TRUE(has(sandbox_.read("out-small.yaml"), "device:\n  name: small\n"));
  EXPECT_TRUE(has(sandbox_.read("out.db.yaml"), "device: {name: big card}"));
  EXPECT_TRUE(has(sandbox_.read("out.db.yaml"), "device: {name: small}"));

  const Result again = tune({"--tune", "--no-finals", "--per-device-model"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(timed().size(), 2u);
  EXPECT_EQ(timed().at(id_ + "a"), all) << "nothing is measured again";
}

TEST_F(DeviceModels, HaveATableEachForSeveralShapes) {
  have_devices("big", "small");
  write("right", 2);
  sandbox_.write("shapes.csv", "m,n,k\n8,8,8\n16,8,8\n");
  const Result result = tune({"--tune", "--no-finals", "--per-device-model", "--shapes", "shapes.csv"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\n4 tunings: 4 UNDECIDED\n"));
  for (const char* model : {"big", "small"}) {
    EXPECT_TRUE(has(result.out, "\nWorkload on " + std::string(model) + ": 2 of 2 shapes tuned, 2 calls\n"));
    EXPECT_TRUE(has(result.out, "\nUNDECIDED: M=16 N=8 K=8 on " + std::string(model) + ": "));
    EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / ("out-M16-N8-K8-" + std::string(model) + ".yaml")));
  }
}

TEST_F(DeviceModels, WithoutAValidSpecDoNotEndTheRun) {
  sandbox_.write("gemm.yaml",
                 "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 8, n: 8, k: 8}},\n"
                 "params: {BEHAVIOUR: [right]}, constraints: [device.memory_bytes < 15],\n"
                 "launch: {args: [A, B, C, m, n, k]}}\n");
  const Result result =
      tune({"--tune", "--no-finals", "--per-device-model", "--listen", "127.0.0.1", "--agents", "2", "--launcher",
            "FAKE_MEMORY=20 FAKE_DEVICES=big:x {agent} & FAKE_MEMORY=10 FAKE_DEVICES=small:y {agent} "
            "& wait"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_TRUE(has(result.out, "\nDevice models: 1 of 2 tuned\n"));
  EXPECT_TRUE(has(result.out, "no valid spec"));
}

TEST_F(DeviceModels, AreTunedForOnAllMachinesThatHaveThem) {
  write("takes_a_while", 12);
  const Result result = tune(on_two_machines({"--per-device-model"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\nDevice models: 2 of 2 tuned\n"));
  std::multiset<std::int64_t> big, small, all;
  for (std::int64_t i = 0; i < 12; ++i) all.insert(i);
  const auto timed = this->timed();
  EXPECT_EQ(timed.size(), 3u) << "two cards are big";
  for (const auto& [device, specs] : timed) (device == "n1s" ? small : big).insert(specs.begin(), specs.end());
  EXPECT_EQ(big, all);
  EXPECT_EQ(small, all);
  EXPECT_TRUE(has(result.err, "time spent: "));
}

// Whichever model comes first, the agent of the other is killed meanwhile.
TEST_F(DeviceModels, WhoseAgentsAreLostEndTheRunWithWhatIsKnown) {
  write("takes_a_while", 12);
  const Result result =
      tune({"--tune", "--no-finals", "--per-device-model", "--listen", "127.0.0.1", "--agents", "2", "--launcher",
            "FAKE_DEVICES=big:x {agent} & big=$!; FAKE_DEVICES=small:y {agent} & small=$!; "
            "until grep -q trial out.jsonl; do sleep 0.01; done; "
            "grep -q '\"name\":\"small\"' out.jsonl && kill -9 $big || kill -9 $small; wait"});
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_TRUE(has(result.err, "no agent is left"));
  EXPECT_TRUE(has(result.out, "Device models: 1 of 1 tuned, until the run ended\n"));
}

TEST_F(DeviceModels, AreNotComparedUnlessOneIsNamed) {
  write("right", 2);
  const Result mixed = tune(on_two_machines({"--devices", "all"}));
  EXPECT_EQ(mixed.code, 2) << mixed.err;
  EXPECT_TRUE(
      has(mixed.err, "devices of several models cannot be compared; name one model, or add --per-device-model"));
  const Result named = tune(on_two_machines({"--devices", "big"}));
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_FALSE(timed().contains("n1s"));
  sandbox_.environment["FAKE_DEVICES"] = "big:a,small:b,big:c";
  EXPECT_EQ(tune({"--devices", "small", "--fresh"}).code, 0);
  EXPECT_TRUE(timed().contains("b"));
  const Result unknown = tune({"--devices", "large"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(has(unknown.err, "there is no device 'large'; there are:\ntune: error:   0: big (a)"));
}

TEST_F(DeviceModels, AreRefusedWhereOnlyOneIsMeant) {
  have_devices("big", "small");
  write("right");
  const auto fails = [&](std::vector<std::string> more, const std::string& why) {
    more.push_back("--per-device-model");
    const Result result = tune(more);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(has(result.err, why));
  };
  fails({"--devices", "0"}, "--per-device-model uses all devices; it excludes --devices 0");
  fails({"--dry-run"}, "--per-device-model tunes for each model of the devices; --simulate, --dry-run, ");
  fails({"--tune", "--baseline", "old.yaml"}, "--baseline is of one problem, and --per-device-model makes several");
  fails({"--tuning_results_file", "best.txt"}, "--tuning_results_file has one best for each size");
  fails({"--tune", "--live", "0"}, "--live shows one run, and --per-device-model makes several");
}

}  // namespace
}  // namespace tune::cli::cli_device_models_test
