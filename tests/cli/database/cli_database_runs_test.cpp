// A database of results where a run is expected: `tune diff` and `tune report`.
#include <gtest/gtest.h>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_database_runs_test {
namespace {

using Words = std::vector<std::string>;

class DatabaseRuns : public testing::Test {
 protected:
  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }

  /// Adds a result whose interval is 1 % wide.
  void add(const std::string& database, int m, int tile, double ms, const std::string& device = "NVIDIA H200",
           const std::string& more = "") const {
    const std::string low = std::to_string(0.995 * ms), high = std::to_string(1.005 * ms);
    sandbox_.write("one.yaml",
                   "name: gemm\nfile: gemm.cu\nkernel: gemm\nbackend: cuda\nproblem: {gemm: {m: " + std::to_string(m) +
                       ", n: 64, k: 64}}\nparams: {BM: " + std::to_string(tile) +
                       "}\nlaunch: {grid: 1, block: 1, args: [A]}\nresult:\n  checked: yes\n  tie: no\n" +
                       "  time_ms: " + std::to_string(ms) + "\n  interval_ms: [" + low + ", " + high + "]\n" + more +
                       "device: {name: " + device + ", driver: '580', arch: x, compiler: y}\n");
    tune({"merge", "one.yaml", "-o", database});
  }

  Sandbox sandbox_;
};

TEST_F(DatabaseRuns, DiffComparesTheResultsOfTheSameProblems) {
  add("old.yaml", 64, 8, 1);
  add("old.yaml", 128, 8, 2);
  add("now.yaml", 64, 16, 1.5);
  add("now.yaml", 128, 8, 2.001);
  add("now.yaml", 256, 8, 3);
  const Result result = tune({"diff", "old.yaml", "now.yaml"}, 3);
  EXPECT_TRUE(has(result.out, "old: old.yaml: gemm on NVIDIA H200\nnew: now.yaml: gemm on NVIDIA H200\n"))
      << result.out;
  EXPECT_TRUE(has(result.out, "m=64 n=64 k=64, a: f32, ")) << result.out;
  EXPECT_TRUE(has(result.out, " best: BM=8 -> BM=16     1.000     1.500  1.500  ")) << result.out;
  EXPECT_TRUE(has(result.out, "warning: only in now.yaml: m=256 ")) << result.out;
  EXPECT_TRUE(has(tune({"diff", "old.yaml", "old.yaml"}).out, "PASS: both are the same run"));
}

TEST_F(DatabaseRuns, DiffComparesEachDeviceWithItself) {
  for (const char* database : {"old.yaml", "now.yaml"}) {
    add(database, 64, 8, 1, "NVIDIA H200");
    add(database, 64, 8, 3, "NVIDIA A100");
  }
  const Result result = tune({"diff", "old.yaml", "now.yaml"});
  EXPECT_TRUE(has(result.out, "old: old.yaml: gemm\n")) << "not that of the first result: " << result.out;
  EXPECT_TRUE(has(result.out, " on NVIDIA H200\n")) << result.out;
  EXPECT_TRUE(has(result.out, " on NVIDIA A100\n")) << result.out;
  EXPECT_TRUE(has(result.out, "PASS: both are the same run")) << result.out;
}

TEST_F(DatabaseRuns, ReportShowsEachResult) {
  add("db.yaml", 64, 8, 1);
  add("db.yaml", 128, 16, 2, "NVIDIA H200", "  vendor_ms: 1.9\n  vendor_ratio: 0.95\n");
  EXPECT_EQ(tune({"report", "db.yaml", "-o", "page.html"}).out, "page.html: 2 runs\n");
  const std::string page = sandbox_.read("page.html");
  EXPECT_TRUE(has(page, R"("problem":"m=64 n=64 k=64, a: f32)"));
  EXPECT_TRUE(has(page, R"("problem":"m=128 n=64 k=64, a: f32)"));
  EXPECT_TRUE(has(page, R"("seconds":0.002)"));
  EXPECT_FALSE(has(page, R"("launches":0)")) << "nobody knows how many there were";
}

TEST_F(DatabaseRuns, ADatabaseWithoutResultsOrADamagedOneIsRefused) {
  sandbox_.write("empty.yaml", "tune_database: 1\nresults: []\nend: yes\n");
  add("db.yaml", 64, 8, 1);
  for (const Words& words : {Words{"diff", "empty.yaml", "db.yaml"}, Words{"diff", "db.yaml", "empty.yaml"},
                             Words{"report", "empty.yaml", "-o", "page.html"}})
    EXPECT_TRUE(has(tune(words, 2).err, "empty.yaml: the database has no results"));
  sandbox_.write("cut.yaml", sandbox_.read("db.yaml").substr(0, 100));
  EXPECT_TRUE(has(tune({"diff", "cut.yaml", "db.yaml"}, 2).err, "cut.yaml"));
  EXPECT_TRUE(has(tune({"report", "cut.yaml", "-o", "page.html"}, 2).err, "cut.yaml"));
}

}  // namespace
}  // namespace tune::cli::cli_database_runs_test
