// `tune retime` over the real binary: what it says of results after a change of the source, and what it leaves alone.
// Kernels differ by far more than any noise; what is said of equal times is left to the run.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_retime_test {
namespace {

using Words = std::vector<std::string>;

// Multiplies as often as TIMES says.
constexpr const char* kKernel =
    R"(extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int) {
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
                   "params: {TIMES: [1, 20]}\nlaunch: {args: [A, B, C, m, n, k, 5]}\nmeasure: {max_seconds: 0.02}\n");
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
  EXPECT_EQ(retime({"--stale"}, 0).out, "           sizes  verdict\n  m=16 n=32 k=32    stale\nchanged: source\n");
  EXPECT_EQ(sandbox_.files(), before);
}

TEST_F(RetimeTest, ASourceThatMakesTheKernelSlowerFails) {
  write_kernel("#define AGAIN 30\n#define FACTOR(x) ((x) * AGAIN)\n");
  const std::string slower = sandbox_.read("k.cpp");
  sandbox_.write("k.cpp", std::string(slower).replace(slower.find("< TIMES"), 7, "< FACTOR(TIMES)"));
  const Result result = retime({"-o", "now.yaml"}, 3);
  EXPECT_TRUE(has(result.out, "  slower  ")) << result.out;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "now.yaml")) << "what is slower is not kept";
  EXPECT_TRUE(has(result.err, "note: now.yaml: nothing is added")) << result.err;
}

TEST_F(RetimeTest, AnotherWinnerIsNamedIfTheJournalKnowsIt) {
  const std::string text = kKernel;
  sandbox_.write("k.cpp", std::string(text).replace(text.find("< TIMES"), 7, "< (TIMES == 20 ? 1 : 60)"));
  EXPECT_TRUE(has(retime({"--threshold", "50%"}, 3).out, "  slower  "));
  const Result result = retime({"run.jsonl", "--threshold", "50%", "-o", "db.yaml"}, 0);
  EXPECT_TRUE(has(result.out, "  other winner  ")) << result.out;
  EXPECT_TRUE(has(result.out, "\nchanged: source\nnow best: TIMES=20\n")) << result.out;
  EXPECT_TRUE(has(retime({}, 0).out, "same bytes")) << "the database has the result of this source too";
  const std::string database = sandbox_.read("db.yaml");
  EXPECT_TRUE(has(database, "params: {TIMES: 1}"));
  EXPECT_TRUE(has(database, "params: {TIMES: 20}"));
  EXPECT_FALSE(has(database, "then.yaml")) << database;
}

TEST_F(RetimeTest, WrongResultsAndFailedBuildsFail) {
  write_kernel("", "#error not any more\n");
  EXPECT_TRUE(has(retime({}, 3).out, "  does not build\nchanged: source\nk.cpp:10:2: error: "));
  const std::string text = kKernel;
  sandbox_.write("k.cpp", std::string(text).replace(text.find("= sum;"), 6, "= 2 * sum + 1;"));
  EXPECT_TRUE(has(retime({}, 3).out, "  wrong now\nchanged: source\nwrong result in C\n"));
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
  EXPECT_TRUE(has(result.out, "\nchanged: source\n")) << result.out;
  EXPECT_NE(result.code, 4) << result.err;
}

TEST_F(RetimeTest, AnotherLaunchIsComparedWithTheRecordedTime) {
  const std::string yaml = sandbox_.read("k.yaml");
  const auto launch_with = [&](const std::string& argument) {
    sandbox_.write("k.yaml", std::string(yaml).replace(yaml.find("k, 5]"), 5, "k, " + argument + "]"));
  };
  launch_with("m - 11");
  EXPECT_TRUE(has(retime({}, 0).out, "same bytes")) << "the value is the same";
  launch_with("6");
  const Result result = sandbox_.tune({"retime", "db.yaml", "--yaml", "k.yaml", "--threshold", "99%"});
  EXPECT_TRUE(has(result.out, "\nchanged: launch\n")) << result.out;
  EXPECT_FALSE(has(result.out, "same bytes")) << result.out;
  EXPECT_TRUE(has(result.err,
                  "note: the tuning file gives another grid, block, cluster, shared memory, workspace or other "
                  "arguments than when these results were timed, so their recorded times are compared; keep the new "
                  "ones with -o db.yaml, or undo this change of launch: or let: in k.yaml\n"));
  EXPECT_FALSE(has(result.err, "then.yaml")) << result.err;
}

TEST_F(RetimeTest, TheTableFitsATerminal) {
  std::string database = sandbox_.read("db.yaml");
  const std::size_t compiler = database.find("compiler: '") + 11;
  sandbox_.write("db.yaml",
                 database.insert(compiler, "an older release of the compiler, which has a very long name, "));
  write_kernel("// a comment\n");
  const Result result = retime({"--stale"}, 0);
  EXPECT_TRUE(has(result.out, "\nchanged: compiler an older release")) << result.out;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

// The first size is timed, and the second is not: what was timed stays, and nothing of earlier runs is taken for it.
TEST_F(RetimeTest, AnInterruptedRunIsContinued) {
  tune({"k.yaml", "-m", "32", "--tune", "-o", "run"});
  tune({"merge", "run.yaml", "-o", "db.yaml"});
  write_kernel("// a comment\n");
  const Words words = {"retime", "db.yaml",     "--yaml", "k.yaml", "--finals-budget",
                       "5s",     "--threshold", "99%",    "-o",     "now.yaml"};
  sandbox_.tune(words);
  const std::string complete = sandbox_.read("now.yaml");
  EXPECT_TRUE(has(complete, "m: 16")) << complete;
  std::filesystem::remove(sandbox_.folder() / "now.yaml");
  Background run(sandbox_, words);
  const auto measured = [&] {
    for (const std::string& file : sandbox_.files())
      if (file.ends_with("-m32-n32-k32.jsonl")) return sandbox_.trials(file).size();
    return std::size_t{0};
  };
  ASSERT_TRUE(eventually(
      [&] { return (run.said().find("retime: m=32") != std::string::npos && measured() > 0) || run.ended(); }));
  run.signal(SIGINT);
  const Result interrupted = run.wait();
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  EXPECT_TRUE(has(interrupted.out, "  m=16 n=32 k=32  ")) << interrupted.out;
  EXPECT_FALSE(has(interrupted.out, "  m=32 n=32 k=32  ")) << interrupted.out;
  EXPECT_TRUE(has(interrupted.err, "note: with --continue the same command keeps what it has timed\n"));
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "now.yaml")) << "results are added when all are there";
  Words more = words;
  more.emplace_back("--continue");
  const Result continued = sandbox_.tune(more);
  const std::size_t second = continued.err.find("retime: m=32");
  ASSERT_NE(second, std::string::npos) << continued.err;
  EXPECT_TRUE(has(continued.err.substr(0, second), "note: 1 of 1 spec and the finals are from the journal"));
  EXPECT_FALSE(has(continued.err.substr(second), "and the finals are from the journal")) << continued.err;
  EXPECT_FALSE(has(continued.err, "--fresh")) << continued.err;
  EXPECT_TRUE(has(continued.out, "  m=16 n=32 k=32  ")) << continued.out;
  EXPECT_TRUE(has(continued.out, "  m=32 n=32 k=32  ")) << continued.out;
  EXPECT_TRUE(has(sandbox_.read("now.yaml"), "m: 16"));
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
