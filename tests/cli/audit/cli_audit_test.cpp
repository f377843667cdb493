#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_audit_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const std::string kRecorded = std::string(TUNE_SOURCE_DIR) + "/configs/recorded/gemm_simt_h200.jsonl";

class Audit : public testing::Test {
 protected:
  /// bench.sh of the sandbox, but T=1 takes 5 ms once the second run has begun.
  void write_drifting_script() const {
    sandbox_.write_script("{T: [1, 2, 3]}");
    const fs::path script = sandbox_.write("bench.sh", R"(#!/bin/sh
echo "$*" >> "${0%/*}/runs.txt"
time=${1#--T=}
[ "$time" = 1 ] && [ -e "${0%/*}/out-run2.jsonl" ] && time=5
echo "{\"time\": ${time}e-3, \"ok\": true}"
)");
    fs::permissions(script, fs::perms::owner_all);
    sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: {$T: [1, 2, 3]}\n");
  }

  void expect_refusal(Words arguments, const std::string& text) const {
    arguments.insert(arguments.begin(), "audit");
    EXPECT_TRUE(has(refusal(sandbox_, arguments), text));
  }

  Sandbox sandbox_;
};

TEST_F(Audit, OfARecordingPrintsATableAndWritesARowPerRun) {
  const Result result = sandbox_.tune(
      {"audit", "--simulate", kRecorded, "--runs", "3", "--with-noise", "0", "--seed", "4", "--output", "sub/out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "runs of each shape: 3, seeds from 4\n"
            "simulated with noise of 0 %\n"
            "regret against the best recorded\n"
            "               shape  runs  winners  changed  regret   worst\n"
            "gemm_simt_h200.jsonl     3        1   0.00 %  0.00 %  0.00 %\n"
            "all: winner changed beyond 1 % in 0 of 1 shapes and 0 of 3 runs (0.00 %)\n"
            "     regret 0.00 % in the mean, 0.00 % at worst\n");
  const std::string csv = sandbox_.read("sub/out.csv");
  EXPECT_TRUE(csv.starts_with("shape,run,seed,mesh_idx,params,met (ms),regret,replay,simulate\n"));
  EXPECT_TRUE(has(csv, "\ngemm_simt_h200.jsonl,3,6,"));
  EXPECT_EQ(sandbox_.files(), (std::vector<std::string>{"sub", "sub/out.csv"}));
}

TEST_F(Audit, OfSeveralRecordingsHasARowForEach) {
  fs::create_directory(sandbox_.folder() / "other");
  for (const char* name : {"a.jsonl", "other/a.jsonl"}) fs::copy_file(kRecorded, sandbox_.folder() / name);
  const Result result = sandbox_.tune({"audit", "--simulate", "a.jsonl", "--simulate", "other/a.jsonl", "--runs", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\n      a.jsonl     2 "));
  EXPECT_TRUE(has(result.out, "\nother/a.jsonl     2 "));
  EXPECT_TRUE(has(result.out, "simulated with the noise that recorded intervals tell"));
  EXPECT_TRUE(has(result.out, "in 0 of 2 shapes and 0 of 4 runs"));
}

TEST_F(Audit, ALimitThatIsNotMetIsExitCode3) {
  const Words words = {"audit",       "--simulate", kRecorded,      "--with-noise", "30%",
                       "--max-flips", "2%",         "--max-regret", "0.1%"};
  const Result result = sandbox_.tune(words);
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_TRUE(has(result.err, "tune: error: the share of runs whose winner changed beyond 1 % is "));
  EXPECT_TRUE(has(result.err, ", more than --max-flips 2%\n"));
  EXPECT_TRUE(has(result.err, "tune: error: the mean regret is "));
  EXPECT_TRUE(has(result.out, "all: winner changed"));
  Words quiet = words;
  quiet[4] = "0";
  EXPECT_EQ(sandbox_.tune(quiet).code, 0);
}

TEST_F(Audit, OfAKernelTunesEachRunAnewAndFromItsJournalAgain) {
  sandbox_.write_gemm();
  const Words words = {"audit", "gemm.yaml", "--runs", "2", "--param", "BM:[1,2,4]", "--output", "out"};
  const Result result = sandbox_.tune(words);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "runs of each shape: 2, seeds from 0\nregret against the best of all winners\n"));
  EXPECT_TRUE(has(result.out, "\n gemm     2 "));
  EXPECT_TRUE(has(result.out, " 2/2 "));
  EXPECT_TRUE(has(result.out, "     replayed alike 2/2, simulated alike 2/2\n"));
  EXPECT_TRUE(has(result.err, "audit: gemm: run 2 of 2\n"));
  EXPECT_EQ(sandbox_.artifacts(), 3);
  for (const char* journal : {"out-run1.jsonl", "out-run2.jsonl"}) EXPECT_EQ(sandbox_.trials(journal).size(), 3u);
  EXPECT_TRUE(has(sandbox_.read("out.csv"), "\ngemm,2,1,"));
  EXPECT_TRUE(has(sandbox_.read("out-run1.yaml"), "BM: "));
}

TEST_F(Audit, AllWinnersMeetInFinalsThatTellTheirRegret) {
  write_drifting_script();
  const Result result = sandbox_.tune({"audit", "bench.yaml", "--runs", "2", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\nbench     2        2  50.00 %  75.00 %  150.00 %     2/2       2/2\n"));
  EXPECT_TRUE(has(result.err, "audit: bench: finals of 2 winners\n"));
  const std::string csv = sandbox_.read("out.csv");
  EXPECT_TRUE(has(csv, "\nbench,1,0,0,T=1,1,1.5,yes,yes\n"));
  EXPECT_TRUE(has(csv, "\nbench,2,1,1,T=2,2,0,yes,yes\n"));
}

TEST_F(Audit, AnExhaustiveRunKnowsABetterSpecThanAllWinners) {
  sandbox_.write_script("{$T: [4, 2, 3]}", "default: {T: 4}\n");
  const Words words = {"audit", "bench.yaml", "--runs", "2", "--max-evals", "1", "--output", "out"};
  EXPECT_TRUE(has(sandbox_.tune(words).out, " 0.00 %  0.00 %     2/2 "));
  Words exhaustive = words;
  exhaustive.push_back("--exhaustive");
  const Result result = sandbox_.tune(exhaustive);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "regret against the best of all winners and an exhaustive run's\n"));
  EXPECT_TRUE(has(result.out, "\nbench     2        1   0.00 %  100.00 %  100.00 %     2/2 "));
  EXPECT_TRUE(has(result.err, "audit: bench: every spec in full\n"));
}

TEST_F(Audit, EachShapeIsAudited) {
  sandbox_.write_script("{$T: [1, 2], M: 8, N: 8, K: 8}");
  sandbox_.write("shapes.yaml", "- {M: 16, N: 16, K: 16}\n- {M: 32, N: 32, K: 32}\n");
  const Result result =
      sandbox_.tune({"audit", "bench.yaml", "--shapes", "shapes.yaml", "--runs", "2", "--quiet", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(has(result.out, "\nM=16 N=16 K=16     2        1 "));
  EXPECT_TRUE(has(result.out, "\nM=32 N=32 K=32     2        1 "));
  EXPECT_TRUE(has(result.out, "in 0 of 2 shapes and 0 of 4 runs"));
  EXPECT_EQ(sandbox_.trials("out-run2-M32-N32-K32.jsonl").size(), 2u);
}

TEST_F(Audit, ARunWithABudgetOfTimeIsNotReplayed) {
  sandbox_.write_script("{$T: [1, 2]}");
  const Result result = sandbox_.tune({"audit", "bench.yaml", "--runs", "1", "--time-budget", "1m", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\nbench     1        1   0.00 %  0.00 %  0.00 %       1/1\n"));
  EXPECT_TRUE(result.out.ends_with("\n     simulated alike 1/1\n"));
}

TEST_F(Audit, BeginsAnewUnlessItIsToGoOn) {
  sandbox_.write_script("{$T: [1, 2]}");
  const Words words = {"audit", "bench.yaml", "--runs", "2", "--output", "out"};
  ASSERT_EQ(sandbox_.tune(words).code, 0);
  const int once = sandbox_.script_runs();
  EXPECT_GT(once, 0);
  Words on = words;
  on.push_back("--continue");
  ASSERT_EQ(sandbox_.tune(on).code, 0);
  EXPECT_EQ(sandbox_.script_runs(), once);
  ASSERT_EQ(sandbox_.tune(words).code, 0);
  EXPECT_EQ(sandbox_.script_runs(), 2 * once);
}

TEST_F(Audit, AnInterruptedOneGoesOn) {
  sandbox_.write_script("{$T: [1, 2]}");
  const fs::path script =
      sandbox_.write("bench.sh", "#!/bin/sh\nsleep 0.1\necho \"{\\\"time\\\": ${1#--T=}e-3, \\\"ok\\\": true}\"\n");
  fs::permissions(script, fs::perms::owner_all);
  Words words = {"audit", "bench.yaml", "--runs", "2", "--output", "out"};
  Background audit(sandbox_, words);
  ASSERT_TRUE(eventually([&] { return sandbox_.trials("out-run2.jsonl").size() == 1; }));
  audit.signal(SIGINT);
  const Result interrupted = audit.wait();
  EXPECT_EQ(interrupted.code, 130);
  EXPECT_TRUE(has(interrupted.err, "tune: interrupted; the same command with --continue goes on from here\n"));
  words.push_back("--continue");
  const Result result = sandbox_.tune(words);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\nbench     2        1   0.00 %  0.00 %  0.00 %     2/2       2/2\n"));
  EXPECT_EQ(sandbox_.trials("out-run2.jsonl").size(), 2u);
}

TEST_F(Audit, WithoutAPrefixJournalsAreInTheStateFolder) {
  sandbox_.write_script("{$T: [1, 2]}");
  const Result result = sandbox_.tune({"audit", "bench.yaml", "--runs", "1"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "audit: journals: " + (sandbox_.folder() / "state/tune/bench-").string()));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "bench-run1.jsonl"));
}

TEST_F(Audit, WithoutAnyValidSpecIsExitCode1) {
  sandbox_.write_script("{$T: [1, 2], $SAYS: wrong}");
  const Result result = sandbox_.tune({"audit", "bench.yaml", "--runs", "2", "--output", "out"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_TRUE(has(result.out, "  no winner\n"));
  EXPECT_TRUE(has(result.err, "audit: this run found no valid spec; its journal tells why: out-run2.jsonl"));
}

TEST_F(Audit, RefusesWhatMakesNoSense) {
  sandbox_.write_script("{$T: [1, 2]}");
  fs::copy_file(kRecorded, sandbox_.folder() / "rec.csv");
  expect_refusal({}, "tune audit needs --yaml FILE, or --simulate FILE");
  expect_refusal({"--simulate", "absent.jsonl"}, "absent.jsonl");
  expect_refusal({"absent.yaml"}, "absent.yaml");
  expect_refusal({"bench.yaml", "--runs", "0"}, "'0' is not a whole number above 0");
  expect_refusal({"bench.yaml", "--seed", "-1"}, "--seed: '-1' is not a whole number from 0 on");
  expect_refusal({"bench.yaml", "--dry-run"}, "--dry-run");
  expect_refusal({"bench.yaml", "--rums", "3"}, "--rums");
  expect_refusal({"bench.yaml", "--with-noise", "1%"}, "--with-noise is the noise of simulated times");
  expect_refusal({"--simulate", "rec.csv", "--with-noise", "much"}, "'much' is no share");
  expect_refusal({"--simulate", "rec.csv", "--exhaustive"}, "--simulate excludes --exhaustive and --continue");
  expect_refusal({"--simulate", "rec.csv", "--shapes", "bench.yaml"}, "--simulate and --shapes exclude each other");
  expect_refusal({"--simulate", "rec.csv", "--output", "rec"}, "the output rec.csv is also an input");
}

}  // namespace
}  // namespace tune::cli::cli_audit_test
