// `tune retime` over the real binary: what it says of results after a change of the source, and what it leaves alone.
// Kernels differ by far more than any noise; what is said of equal times is left to the run.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_retime_test {
namespace {

using Words = std::vector<std::string>;

// Multiplies as often as TIMES says.
constexpr const char* kKernel = R"(extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int again = 0; again < TIMES; ++again)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
        static_cast<volatile float*>(C)[i * n + j] = sum;
      }
}
)";

class RetimeTest : public testing::Test {
 protected:
  RetimeTest() {
    write_kernel("");
    sandbox_.write("k.yaml",
                   "name: k\nfile: k.cpp\nkernel: gemm\nbackend: cpu\nproblem: {gemm: {m: 16, n: 32, k: 32}}\n"
                   "params: {TIMES: [1, 20]}\nlaunch: {args: [A, B, C, m, n, k]}\nmeasure: {max_seconds: 0.02}\n");
    tune({"k.yaml", "--tune", "-o", "run"});
    tune({"merge", "run.yaml", "-o", "db.yaml"});
  }

  void write_kernel(const std::string& before, const std::string& after = "") const {
    sandbox_.write("k.cpp", before + kKernel + after);
  }
  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }
  Result retime(const Words& more, int code) const {
    Words words = {"retime", "db.yaml", "--yaml", "k.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    return tune(words, code);
  }

  Sandbox sandbox_;
};

TEST_F(RetimeTest, NothingIsTimedWhereNothingHasChanged) {
  const Result result = retime({}, 0);
  EXPECT_TRUE(has(result.out, "m=16 n=32 k=32  same bytes")) << result.out;
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(has(retime({"--stale"}, 0).out, "m=16 n=32 k=32  unchanged"));
}

TEST_F(RetimeTest, StaleResultsAreListedWithWhatHasChanged) {
  write_kernel("// a comment\n");
  const auto before = sandbox_.files();
  EXPECT_EQ(retime({"--stale"}, 0).out, "           sizes  verdict  changed\n  m=16 n=32 k=32    stale   source\n");
  EXPECT_EQ(sandbox_.files(), before);
}

TEST_F(RetimeTest, ASourceThatMakesTheKernelSlowerFails) {
  write_kernel("#define AGAIN 30\n#define FACTOR(x) ((x) * AGAIN)\n");
  const std::string slower = sandbox_.read("k.cpp");
  sandbox_.write("k.cpp", std::string(slower).replace(slower.find("< TIMES"), 7, "< FACTOR(TIMES)"));
  const Result result = retime({"-o", "now.yaml"}, 3);
  EXPECT_TRUE(has(result.out, "  slower  ")) << result.out;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "now.yaml")) << "what is slower is not kept";
}

TEST_F(RetimeTest, AnotherWinnerIsNamedIfTheJournalKnowsIt) {
  const std::string text = kKernel;
  sandbox_.write("k.cpp", std::string(text).replace(text.find("< TIMES"), 7, "< (TIMES == 20 ? 1 : 60)"));
  EXPECT_TRUE(has(retime({"--threshold", "50%"}, 3).out, "  slower  "));
  const Result result = retime({"run.jsonl", "--threshold", "50%", "-o", "db.yaml"}, 0);
  EXPECT_TRUE(has(result.out, "  other winner  ")) << result.out;
  EXPECT_TRUE(has(result.out, "source; now best: TIMES=20")) << result.out;
  EXPECT_TRUE(has(retime({}, 0).out, "same bytes")) << "the database has the result of this source too";
  const std::string database = sandbox_.read("db.yaml");
  EXPECT_TRUE(has(database, "params: {TIMES: 1}"));
  EXPECT_TRUE(has(database, "params: {TIMES: 20}"));
  EXPECT_FALSE(has(database, "then.yaml")) << database;
}

TEST_F(RetimeTest, WrongResultsAndFailedBuildsFail) {
  write_kernel("", "#error not any more\n");
  EXPECT_TRUE(has(retime({}, 3).out, "  does not build  "));
  const std::string text = kKernel;
  sandbox_.write("k.cpp", std::string(text).replace(text.find("= sum;"), 6, "= 2 * sum + 1;"));
  EXPECT_TRUE(has(retime({}, 3).out, "  wrong now  "));
}

TEST_F(RetimeTest, WhatTheTuningFileExcludesIsLost) {
  sandbox_.write("k.yaml", sandbox_.read("k.yaml") + "constraints: [{if: TIMES > 1, because: one is too few}]\n");
  const Result result = retime({}, 3);
  EXPECT_TRUE(has(result.out, "lost")) << result.out;
  EXPECT_TRUE(has(result.out, "the tuning file excludes it: one is too few")) << result.out;
}

TEST_F(RetimeTest, WithoutTheOldBinaryItsRecordedTimeIsCompared) {
  write_kernel("// a comment\n");
  const Result result = sandbox_.tune({"retime", "db.yaml", "--yaml", "k.yaml", "--store", "store"});
  EXPECT_TRUE(has(result.err, "its artifact is not in the build store any more")) << result.err;
  EXPECT_TRUE(has(result.out, "  source\n")) << result.out;
}

TEST_F(RetimeTest, WrongInputIsRefused) {
  EXPECT_TRUE(has(tune({"retime", "db.yaml"}, 2).err, "--yaml is required"));
  EXPECT_TRUE(has(tune({"retime", "no.yaml", "--yaml", "k.yaml"}, 2).err, "no.yaml"));
  EXPECT_TRUE(has(tune({"retime", "db.yaml", "--yaml", "k.yaml", "--kernel", "other"}, 2).err, "--kernel"));
  std::string other = sandbox_.read("k.yaml");
  sandbox_.write("other.yaml", other.replace(0, 7, "name: other"));
  EXPECT_TRUE(has(tune({"retime", "db.yaml", "--yaml", "other.yaml"}, 2).err, "this is the tuning file of 'other'"));
  std::string database = sandbox_.read("db.yaml");
  const std::size_t name = database.find("device:");
  const std::size_t from = database.find("name: ", name) + 6, to = database.find_first_of(",\n", from);
  sandbox_.write("far.yaml", database.replace(from, to - from, "Another CPU"));
  EXPECT_TRUE(has(tune({"retime", "far.yaml", "--yaml", "k.yaml"}, 2).err, "there is no result of this machine's"));
}

}  // namespace
}  // namespace tune::cli::cli_retime_test
