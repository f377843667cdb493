// Groups of rows through the real binary and CPU worker, with the kernel and the tuning file of the repository.
#include <gtest/gtest.h>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_groups_test {
namespace {

using Words = std::vector<std::string>;

class GroupsOfRows : public testing::Test {
 protected:
  /// With one spec.
  Result tune(const Words& more) const {
    Words words = {TUNE_SOURCE_DIR "/configs/gemm_grouped_cpu.yaml",
                   "--param",
                   "MR:2",
                   "--param",
                   "NR:16",
                   "--param",
                   "MC:12",
                   "--param",
                   "NC:128",
                   "--param",
                   "KC:256",
                   "--param",
                   "THREADS:1"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.tune(words);
  }

  Sandbox sandbox_;
};

TEST_F(GroupsOfRows, EachNumberAndRoutingOfAListHasItsResult) {
  sandbox_.write("list.yaml",
                 "- {M: 64, N: 24, K: 40, groups: 4, routing: zipf 1.2}\n- {M: 64, N: 24, K: 40, groups: 80}\n");
  const Result result = tune({"--shapes", "list.yaml", "--tune", "--no-finals", "--output", "out"});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(has(sandbox_.read("out-M64-N24-K40-groups4-routingzipf_1.2.yaml"), "routing: zipf 1.2"));
  EXPECT_TRUE(has(sandbox_.read("out-M64-N24-K40-groups80.yaml"), "groups: 80"));
  const std::string database = sandbox_.read("out.db.yaml");
  EXPECT_TRUE(has(database, "groups: 4}")) << database;
  EXPECT_TRUE(has(database, "routing: zipf 1.2}")) << database;
  EXPECT_TRUE(has(database, "groups: 80}")) << database;
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl")) EXPECT_NE(record.trial.measurement(), nullptr);
}

/// vLLM's name of a file does not say K.
TEST_F(GroupsOfRows, ListsOfExpertsOfOtherToolsAreTuned) {
  const std::string vllm = "E=4,N=12,device_name=NVIDIA_H200.json";
  sandbox_.write(vllm, "{\"16\": {}}\n");
  const Result result = tune({"--shapes", vllm, "--problem", "k=40", "--tune", "--no-finals", "--output", "out"});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(has(sandbox_.read("out.db.yaml"), "{m: 16, n: 24, k: 40, groups: 4}")) << sandbox_.read("out.db.yaml");
  EXPECT_TRUE(has(tune({"--shapes", vllm, "--tune"}).err, "a shape of a gemm lacks K"));
  sandbox_.write("untuned_fmoe.csv", "token,model_dim,inter_dim,expert,topk,use_g1u1\n8,40,12,4,2,1\n");
  const Result table = tune({"--shapes", "untuned_fmoe.csv", "--tune", "--no-finals", "--output", "table"});
  ASSERT_EQ(table.code, 0) << table.out << table.err;
  EXPECT_TRUE(has(sandbox_.read("table.db.yaml"), "{m: 16, n: 24, k: 40, groups: 4}"));
  EXPECT_TRUE(has(sandbox_.read("table.db.yaml"), "{m: 16, n: 40, k: 12, groups: 4}"));
}

/// The room of groups is a size, and what may be written there a property of the problem.
TEST_F(GroupsOfRows, TheirRoomAndScalesAreInTheDatabase) {
  sandbox_.write("list.yaml",
                 "- {M: 64, N: 24, K: 40, groups: 4, max_rows: 20, padding: any, a: e4m3, b: e4m3, c: bf16, scale_a: "
                 "1x128, scale_b: 128x128}\n");
  const Result result = tune({"--shapes", "list.yaml", "--tune", "--no-finals", "--output", "out"});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  const std::string database = sandbox_.read("out.db.yaml");
  EXPECT_TRUE(has(database, "groups: 4, max_rows: 20}")) << database;
  EXPECT_TRUE(has(database, "padding: any")) << database;
  EXPECT_TRUE(has(database, "scale_b: 128x128")) << database;
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl")) EXPECT_NE(record.trial.measurement(), nullptr);
}

/// The rows are part of what was measured, and other ones have to be.
TEST_F(GroupsOfRows, OtherRowsAreAnotherProblem) {
  const auto timed = [&](const char* routing) {
    const Result result = tune({"-m", "64", "-n", "24", "-k", "40", "--problem", "groups=4", "--problem", routing,
                                "--tune", "--no-finals", "--output", "out"});
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    return sandbox_.trials("out.jsonl").size();
  };
  EXPECT_EQ(timed("routing=uniform"), 1U);
  EXPECT_EQ(timed("routing=uniform seed 0"), 1U);
  EXPECT_EQ(timed("routing=uniform seed 2"), 2U);
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "routing: uniform seed 2"));
}

TEST_F(GroupsOfRows, AnotherNumberOfListedRowsIsRefused) {
  const Result result = tune({"-m", "64", "-n", "24", "-k", "40"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "-m: m is 64, and the rows that groups lists are 1024 together; leave m out"))
      << result.err;
}

}  // namespace
}  // namespace tune::cli::cli_groups_test
