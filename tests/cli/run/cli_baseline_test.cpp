// A run that is compared with an earlier result, over the real binary: --baseline, and best.yaml files as baselines.
#include <gtest/gtest.h>

#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_baseline_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// What write_gemm does, and before it so much more work that the kernel takes many times as long.
constexpr const char* kSlowKernel = R"(
  volatile float waste = 0;
  for (int i = 0; i < 400000 + BM; ++i) waste = waste + 1;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
)";

class Baseline : public testing::Test {
 protected:
  Result tune(const Words& more, int code, const std::string& budget = "1s") const {
    Words words = {"gemm.yaml", "--tune", "--param", "BM:[1,2]", "--finals-budget", budget};
    words.insert(words.end(), more.begin(), more.end());
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.out << result.err;
    return result;
  }

  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = sandbox_.read(file);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    sandbox_.write(file, text.replace(at, from.size(), to));
  }

  Sandbox sandbox_;
};

TEST_F(Baseline, TheOldWinnerIsTimedAsItWasBuiltThen) {
  sandbox_.write_gemm();
  tune({"--output", "old"}, 0);
  sandbox_.write_gemm("", kSlowKernel);
  const Result result = tune({"--output", "new", "--baseline", "old.yaml"}, 3, "20s");
  EXPECT_TRUE(has(result.out, "x old.yaml")) << "a column of the table";
  EXPECT_TRUE(has(result.out, "FAIL: new/old = "));
  EXPECT_TRUE(has(result.out, ": slower\n  old: old.yaml, BM="));
  EXPECT_FALSE(has(result.out, "\nold: old.yaml: gemm on ")) << "a second comparison, by the recorded times";
  EXPECT_EQ(tune({"--output", "new", "--baseline", "old.yaml"}, 3, "20s").out.find("Elapsed"),
            result.out.find("Elapsed"))
      << "the journal knows the finals";
  EXPECT_TRUE(
      has(tune({"--output", "same", "--baseline", "new.yaml", "--threshold", "50%"}, 0, "20s").out, "PASS: new"));
}

TEST_F(Baseline, TheOldResultMayLieInAnotherFolderThanItsSource) {
  sandbox_.write_gemm();
  tune({"--output", "old"}, 0);
  sandbox_.write("far/away/old.yaml", sandbox_.read("old.yaml"));
  sandbox_.write_gemm("", kSlowKernel);
  const Result result = tune({"--output", "new", "--baseline", "far/away/old.yaml"}, 3, "20s");
  EXPECT_TRUE(result.out.starts_with("FAIL: new/old = ")) << result.out;
}

TEST_F(Baseline, OneProgramThatTellsItsTimeIsRunUntilTheAnswerIsKnown) {
  const auto program = [&](const std::string& time) {
    fs::permissions(sandbox_.write("bench.sh", "#!/bin/sh\necho '{\"time\": " + time + "}'\n"), fs::perms::owner_all);
  };
  const Words gate = {"--param",    "T:1",      "--fresh", "--tune",     "--output", "best",
                      "--baseline", "old.yaml", "--",      "./bench.sh", "{T}"};
  program("0.001");
  EXPECT_EQ(sandbox_.tune({"--param", "T:1", "--tune", "--output", "old", "--", "./bench.sh", "{T}"}).code, 0);
  const Result same = sandbox_.tune(gate);
  EXPECT_TRUE(same.out.starts_with("PASS: new/recorded = 1.000 (1.000..1.000)")) << same.out << same.err;
  program("0.0011");
  const Result slower = sandbox_.tune(gate);
  EXPECT_EQ(slower.code, 3) << slower.err;
  EXPECT_TRUE(slower.out.starts_with("FAIL: new/recorded = 1.100 (1.100..1.100), allowed 1.03: slower\n"))
      << slower.out;
}

/// A command that takes MS milliseconds, and a tenth of one more at each run.
class BaselineOfCommands : public testing::Test {
 protected:
  BaselineOfCommands() {
    const char* text = "#!/bin/sh\necho x >> runs\necho \"{\\\"time\\\": 0.0$1$(($(wc -l < runs) % 10))}\"\n";
    fs::permissions(sandbox_.write("bench.sh", text), fs::perms::owner_all);
  }
  Result tune(const Words& options) const {
    Words words = {"--tune", "--fresh", "--finals-budget", "20s"};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* word : {"--", "./bench.sh", "{MS}"}) words.emplace_back(word);
    return sandbox_.tune(words);
  }

  Sandbox sandbox_;
};

TEST_F(BaselineOfCommands, ASpecOfTheSameRunIsTimedInTurns) {
  const Result slower = tune({"--param", "MS:13", "--baseline", "MS=12", "--threshold", "5%"});
  EXPECT_EQ(slower.code, 3) << slower.err;
  EXPECT_TRUE(slower.out.starts_with("FAIL: new/old = 1.08")) << slower.out;
  EXPECT_TRUE(has(slower.out, "\n  old: MS=12\n  new: spec 0, ")) << slower.out;
  EXPECT_FALSE(has(slower.out, "times as fast as MS=12;")) << "the first line has the ratio";
  const Result faster = tune({"--param", "MS:[12,13]", "--filter", "MS=12", "--baseline", "$MS=13"});
  EXPECT_EQ(faster.code, 0) << faster.err;
  EXPECT_TRUE(faster.out.starts_with("PASS: new/old = 0.9")) << faster.out;
}

TEST_F(BaselineOfCommands, ARecordedTimeThatDiffersFromRunToRunShowsNoSlowdown) {
  ASSERT_EQ(tune({"--param", "MS:12", "--output", "old"}).code, 0);
  const Result slower = tune({"--param", "MS:15", "--baseline", "old.yaml"});
  EXPECT_EQ(slower.code, 5) << slower.err;
  EXPECT_TRUE(slower.out.starts_with("UNDECIDED: new/recorded = 1.2")) << slower.out;
  EXPECT_TRUE(has(slower.out,
                  ", by its recorded time, because only that is known, and the speed differs between "
                  "runs\n"))
      << slower.out;
  EXPECT_TRUE(has(slower.out, "  next: --baseline NAME=VALUE times the old one in turns ")) << slower.out;
  EXPECT_EQ(tune({"--param", "MS:11", "--baseline", "old.yaml"}).code, 0);
}

// A gate must not pass because what it compares with is broken. Times of many digits, of which two may look the same.
TEST_F(BaselineOfCommands, ThatFailsPassesNobody) {
  const char* text = "#!/bin/sh\n[ $1 = old ] && exit 1\necho \"{\\\"time\\\": 0.01$(date +%N)}\"\n";
  fs::permissions(sandbox_.write("bench.sh", text), fs::perms::owner_all);
  for (const char* param : {"MS:new", "MS:[new,newer]"}) {
    const Result result = tune({"--param", param, "--baseline", "MS=old", "--exit-undecided", "0"});
    EXPECT_EQ(result.code, 1) << result.out << result.err;
    EXPECT_TRUE(
        result.out.starts_with("FAIL: the old time is not known: it took no part in the finals, and a note "
                               "below says why\n  old: MS=old\n"))
        << result.out;
    EXPECT_TRUE(has(result.out, "\nnote: baseline MS=old failed: ")) << result.out;
  }
}

TEST_F(BaselineOfCommands, ThatFailsInTheFinalsPassesNobodyEither) {
  const char* text =
      "#!/bin/sh\necho x >> $1\n[ $1 = old ] && [ $(wc -l < old) -gt 4 ] && exit 1\n"
      "echo \"{\\\"time\\\": 0.01$(date +%N)}\"\n";
  fs::permissions(sandbox_.write("bench.sh", text), fs::perms::owner_all);
  const Result result = tune({"--param", "MS:new", "--baseline", "MS=old", "--exit-undecided", "0"});
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_TRUE(result.out.starts_with("FAIL: the old time is not known: it failed in the finals: ")) << result.out;
}

TEST_F(BaselineOfCommands, ThatIsNotThereIsRefusedAtOnce) {
  const Result result =
      sandbox_.tune({"--tune", "--param", "B:bench", "--baseline", "B=absent", "--", "./{B}.sh", "12"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "tune: error: {B}.sh: run: cannot start ./absent.sh: no such file\n")) << result.err;
}

// What was measured beside it counts for runs without it, too.
TEST_F(BaselineOfCommands, AreNoPartOfTheIdentityOfOthers) {
  for (const char* name : {"bench.sh", "old.sh"})
    fs::permissions(sandbox_.write(name, "#!/bin/sh\necho x >> $0.runs\necho \"{\\\"time\\\": 0.012}\"\n"),
                    fs::perms::owner_all);
  const auto gate = [&](const Words& baseline) {
    Words words = {"--tune", "--param", "B:bench", "--output", "best"};
    words.insert(words.end(), baseline.begin(), baseline.end());
    words.insert(words.end(), {"--", "./{B}.sh", "12"});
    EXPECT_EQ(sandbox_.tune(words).code, 0);
    return sandbox_.read("bench.sh.runs").size();
  };
  const auto runs = gate({"--baseline", "B=old"});
  EXPECT_GT(runs, 0u);
  EXPECT_EQ(gate({"--no-finals"}), runs);
}

TEST_F(BaselineOfCommands, AreNotAnsweredFromTheJournal) {
  const Words gate = {"--tune", "--param", "MS:13", "--baseline", "MS=12",      "--threshold",
                      "50%",    "--",      "env",   "A=1",        "./bench.sh", "{MS}"};
  EXPECT_EQ(sandbox_.tune(gate).code, 0);
  fs::permissions(sandbox_.write("bench.sh", "#!/bin/sh\necho \"{\\\"time\\\": 0.0$(($1 * $1))}\"\n"),
                  fs::perms::owner_all);
  const Result slower = sandbox_.tune({"--tune", "--param", "MS:13", "--baseline", "MS=12", "--threshold", "5%", "--",
                                       "env", "A=1", "./bench.sh", "{MS}"});
  EXPECT_EQ(slower.code, 3) << slower.out << slower.err;
  EXPECT_TRUE(slower.out.starts_with("FAIL: new/old = 1.17")) << slower.out;
}

TEST_F(BaselineOfCommands, IsTheSpecOfAUnionThatHasItsValues) {
  sandbox_.write(
      "u.yaml",
      "name: u\nrun: [./bench.sh, '{MS}', '{args}']\nparams: [{M: [a], MS: [12, 13]}, {M: [b], MS: [14], N: [1, 2]}]\n"
      "constraints: [MS != 13]\n");
  const auto complaint = [&](const Words& options) {
    Words words = {"u.yaml", "--tune"};
    words.insert(words.end(), options.begin(), options.end());
    return sandbox_.tune(words).err;
  };
  const std::string error = "tune: error: --baseline ";
  EXPECT_EQ(complaint({"--baseline", "MS=14", "--baseline", "M=b"}), error +
                                                                         "MS=14 M=b: add --baseline N=VALUE: N has "
                                                                         "the values 1, 2\n");
  EXPECT_EQ(complaint({"--baseline", "MS=13"}), error + "MS=13: it is pruned: MS != 13\n");
  EXPECT_EQ(complaint({"--baseline", "MS=12", "--baseline", "MS=12"}), error + "MS=12 MS=12: give one value for MS\n");
  EXPECT_EQ(complaint({"--baseline", "MS="}), error + "MS=: give one value for MS\n");
  const Result tuned =
      sandbox_.tune({"u.yaml", "--tune", "--filter", "M=a", "--baseline", "MS=14", "--baseline", "N=2"});
  EXPECT_EQ(tuned.code, 0) << tuned.out << tuned.err;
  EXPECT_TRUE(tuned.out.starts_with("PASS: new/old = 0.8")) << tuned.out;
}

TEST_F(BaselineOfCommands, IsASpecThatDoesNotCompete) {
  const auto complaint = [&](const Words& options) { return tune(options).err; };
  EXPECT_EQ(complaint({"--param", "MS:[12,13]", "--baseline", "MS=12"}),
            "tune: error: --baseline MS=12: it is one of the specs that it is compared with, so that the best is never "
            "slower; leave it out of them: --param MS:[...], or --filter MS=VALUE\n");
  EXPECT_EQ(complaint({"--param", "MS:12", "--baseline", "MX=12"}),
            "tune: error: --baseline MX=12: unknown parameter 'MX', did you mean 'MS'?\n");
  EXPECT_EQ(complaint({"--param", "MS:12", "--baseline", "MS=13", "--baseline", "old.yaml"}),
            "tune: error: --baseline MS=13 old.yaml: give one file, or NAME=VALUE for each parameter of a spec\n");
  EXPECT_EQ(
      sandbox_.tune({"--tune", "--param", "MS:12", "--baseline", "MS=13", "--no-finals", "--", "true", "{MS}"}).err,
      "tune: error: --no-finals times no baseline; drop one of them\n");
  sandbox_.write_gemm();
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--tune", "--add-param", "UNROLL:2", "--baseline", "UNROLL=1"}).err,
            "tune: error: --baseline UNROLL=1: add --baseline BM=VALUE: BM has the values 1, 2, 4, 8\n");
}

TEST_F(Baseline, TheSameBuildIsAsFastWhateverIsTimed) {
  const std::string kernel = kSlowKernel;
  sandbox_.write_gemm("", kernel.substr(kernel.find("  for (int i = 0; i < m")));  // whatever BM is
  tune({"--output", "old"}, 0);
  const Words gate = {"old.yaml", "--tune", "--fresh", "--baseline", "old.yaml", "--threshold", "0.01%"};
  const Result alone = sandbox_.tune(gate);
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(
      alone.out.starts_with("PASS: new and old are the same code\n  old: old.yaml, its winner\n  new: spec 0, "))
      << alone.out;
  const Words more = {"--fresh", "--baseline", "old.yaml", "--threshold", "0.01%"};
  EXPECT_TRUE(tune(more, 0).out.starts_with("PASS: new and old are the same code\n"));
  const Result journal =
      sandbox_.tune({"gemm.yaml", "--tune", "--fresh", "--baseline", "old.jsonl", "--threshold", "90%"});
  EXPECT_TRUE(journal.code == 0 || journal.code == 5) << journal.code << ", by how the two runs were disturbed";
  EXPECT_FALSE(has(journal.out, "the same code")) << "what else has changed is not known";
  EXPECT_TRUE(has(journal.out, "old: old.jsonl: gemm on ")) << journal.out << journal.err;
}

TEST_F(Baseline, TheSameArtifactIsNotTheSameIfItIsMeasuredInAnotherWay) {
  sandbox_.write(
      "p.cpp", "#include <cstdlib>\n#include <unistd.h>\nint main() { usleep(T * std::atoi(std::getenv(\"US\"))); }\n");
  const auto write = [&](const std::string& us) {
    sandbox_.write("p.yaml",
                   "name: p\nfile: p.cpp\nrun: [env, US=" + us + ", '{binary}']\nparams: {T: 1}\nwhole: true\n");
  };
  write("2000");
  ASSERT_EQ(sandbox_.tune({"p.yaml", "--tune", "--output", "old"}).code, 0);
  const Result same = sandbox_.tune({"p.yaml", "--tune", "--fresh", "--baseline", "old.yaml"});
  EXPECT_TRUE(same.out.starts_with("PASS: new and old are the same code\n")) << same.out << same.err;
  write("60000");
  const Result slower =
      sandbox_.tune({"p.yaml", "--tune", "--fresh", "--baseline", "old.yaml", "--finals-budget", "20s"});
  EXPECT_EQ(slower.code, 3) << slower.out << slower.err;
  EXPECT_TRUE(slower.out.starts_with("FAIL: new/old = ")) << slower.out;
}

TEST_F(Baseline, ARateThatIsTheObjectiveIsComparedInTurns) {
  const std::string rate = "objective: rate\nmetrics: {rate: {expr: 1/time, maximize: true}}\n";
  sandbox_.write_gemm(rate);
  tune({"--output", "old"}, 0);
  sandbox_.write_gemm(rate, kSlowKernel);
  const std::string out = tune({"--output", "new", "--baseline", "old.yaml"}, 3, "20s").out;
  EXPECT_TRUE(out.starts_with("FAIL: new is ")) << out;
  EXPECT_TRUE(has(out, ": worse\n  old: old.yaml, BM=")) << out;
  EXPECT_TRUE(has(out, ", rate ")) << out;
}

TEST_F(Baseline, AnOldResultIsNotCalledAsTheTuningFile) {
  sandbox_.write_gemm();
  tune({"--output", "best/gemm"}, 0);
  const std::string out = tune({"--output", "new", "--baseline", "best/gemm.yaml", "--threshold", "50%"}, 0, "20s").out;
  EXPECT_TRUE(has(out, "x best/gemm.yaml")) << out;
}

TEST_F(Baseline, AnOldWinnerIsTimedByAnObjectiveThatItsFileLacks) {
  sandbox_.write_gemm();
  tune({"--output", "old", "--filter", "BM=1"}, 0);
  sandbox_.write_gemm("objective: rate\nmetrics: {rate: {expr: 1/time, maximize: true}}\n", kSlowKernel);
  const Result result = tune({"--output", "new", "--baseline", "old.yaml"}, 3, "20s");
  EXPECT_TRUE(result.out.starts_with("FAIL: new is ")) << result.out;
  EXPECT_TRUE(
      has(tune({"--output", "new", "--baseline", "old.jsonl", "--objective", "time"}, 3, "20s").err,
          "note: of old.jsonl only the recorded times are compared; --baseline old.yaml times its winner again"));
  sandbox_.write_gemm("objective: cost\nmetrics: {cost: BM*1000+7}\n", kSlowKernel);
  const std::string by_cost = tune({"--output", "new", "--baseline", "old.yaml"}, 0, "20s").out;
  EXPECT_TRUE(by_cost.starts_with("PASS: new is 1.000 times as bad as old (1.000..1.000), allowed 1.03\n")) << by_cost;
  EXPECT_TRUE(has(refusal(sandbox_, {"gemm.yaml", "--tune", "--baseline", "old.yaml", "--no-finals"}),
                  "--no-finals would compare a new time with the recorded one of old.yaml; "));
}

TEST_F(Baseline, AnOldWinnerThatFailsIsSaidToStandWithItsRecordedTime) {
  const std::string flag = (sandbox_.folder() / "fails").string();
  std::string kernel = kSlowKernel;
  sandbox_.write_gemm(
      "", "int absent(const char*, int) asm(\"access\");\n  if (absent(\"" + flag + "\", 0) == 0) abort();\n" + kernel);
  tune({"--output", "old"}, 0);
  sandbox_.write_gemm("", kernel.replace(kernel.find("400000"), 6, "400001"));
  sandbox_.write("fails", "");
  // Of the recorded time and the new one nobody knows how they differ.
  const std::string yaml = sandbox_.read("old.yaml");
  const auto at = yaml.find("interval_ms: [");
  ASSERT_NE(at, std::string::npos) << yaml;
  sandbox_.write("old.yaml", std::string(yaml).replace(at, yaml.find('\n', at) - at, "interval_ms: [0.001, 1000]"));
  const Result result = tune({"--output", "new", "--baseline", "old.yaml"}, 5, "20s");
  EXPECT_TRUE(result.out.starts_with("UNDECIDED: new/recorded is not known, allowed ")) << result.out;
  EXPECT_TRUE(has(result.out, ", by its recorded time, because it failed in the finals: ")) << result.out;
  EXPECT_TRUE(has(result.out, "\n  next: the same command with --fresh times both again; ")) << result.out;
  EXPECT_FALSE(has(result.out, "tune --tune --baseline")) << "that has just been done: " << result.out;
  sandbox_.write_gemm("objective: rate\nmetrics: {rate: {expr: 1/time, maximize: true}}\n", kernel);
  const std::string by_rate = tune({"--output", "new", "--baseline", "old.yaml"}, 5, "20s").out;
  EXPECT_TRUE(
      by_rate.starts_with("UNDECIDED: the objective of the earlier result is not known: it failed in the finals: "))
      << by_rate;
  EXPECT_TRUE(has(by_rate, "\n  next: the same command with --fresh times both again; ")) << by_rate;
}

TEST_F(Baseline, ASourceThatWorksNoMoreFails) {
  sandbox_.write_gemm();
  tune({"--output", "old"}, 0);
  for (const char* body : {"  C[0] = 1;\n", "  no C++\n"}) {
    sandbox_.write_gemm("", body);
    const Result result = tune({"--output", "new", "--baseline", "old.yaml", "--exit-undecided", "0"}, 1);
    EXPECT_TRUE(has(result.out, "FAIL: none of 2 specs works\n")) << body;
  }
}

TEST_F(Baseline, ABestYamlInATuningFileIsTimedAsItWasBuiltThen) {
  sandbox_.write_gemm();
  tune({"--output", "old"}, 0);
  sandbox_.write_gemm("baseline: old.yaml\n", kSlowKernel);
  tune({"--output", "new"}, 0);
  const std::string yaml = sandbox_.read("new.yaml");
  const auto at = yaml.find("old.yaml: 0.");
  ASSERT_NE(at, std::string::npos) << yaml;
  EXPECT_LT(std::stod(yaml.substr(at + 10)), 0.5) << yaml;
  fs::remove_all(sandbox_.folder() / "cache");
  const Result lost = tune({"--output", "again", "--store", "store"}, 0);
  EXPECT_TRUE(has(
      lost.out,
      "baseline old.yaml: its parameters were timed in the present source: its artifact is not in the build store"));
}

TEST_F(Baseline, WithoutTheArtifactNothingIsCompared) {
  sandbox_.write_gemm();
  tune({"--output", "old"}, 0);
  sandbox_.write_gemm("", kSlowKernel);
  const Result result = tune({"--output", "new", "--baseline", "old.yaml", "--store", "store"}, 4);
  EXPECT_TRUE(has(result.err, "tune: error: old.yaml: its artifact is not in the build store any more ("));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "new.jsonl")) << "before anything runs";
}

TEST_F(Baseline, AJournalIsComparedByItsTimes) {
  sandbox_.write_script("{T: [2, 3]}");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--tune", "--output", "old"}).code, 0);
  sandbox_.write_script("{T: [3, 4]}");
  const Result result = sandbox_.tune({"bench.yaml", "--tune", "--output", "new", "--baseline", "old.jsonl"});
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_TRUE(has(result.out, "FAIL: new/recorded = 1.500 (")) << result.out;
  EXPECT_TRUE(has(result.out, "best: T=2 -> T=3     2.000     3.000  1.500  1.500..1.500   slower\nFAIL: the best is "))
      << "of the other specs tune diff tells: " << result.out;
  EXPECT_FALSE(has(result.out, "nothing was measured now")) << result.out;
  const auto is_allowed = [&] {
    return sandbox_.tune({"bench.yaml", "--tune", "--output", "new", "--baseline", "old.jsonl", "--threshold", "60%"});
  };
  EXPECT_EQ(is_allowed().code, 0);
  const Result again = is_allowed();
  EXPECT_TRUE(has(again.out, "\n  nothing was measured now: both are recorded; ")) << again.out;
}

TEST_F(Baseline, WhatCannotBeComparedIsRefusedBeforeAnythingRuns) {
  sandbox_.write_script("{T: [2, 3]}");
  ASSERT_EQ(sandbox_.tune({"bench.yaml", "--tune", "--output", "old"}).code, 0);
  const auto refusal = [&](const Words& more) {
    Words words = {"bench.yaml", "--tune", "--output", "new"};
    words.insert(words.end(), more.begin(), more.end());
    const int runs = sandbox_.script_runs();
    const Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_EQ(sandbox_.script_runs(), runs);
    EXPECT_FALSE(fs::exists(sandbox_.folder() / "new.jsonl"));
    return result.err;
  };
  EXPECT_TRUE(has(refusal({"--baseline", "absent.yaml"}), "absent.yaml: there is no such file"));
  EXPECT_EQ(refusal({"--baseline", "unlike-all-files"}),
            "tune: error: --baseline unlike-all-files: there is no such file; give the best YAML, journal or CSV file "
            "of an earlier "
            "run, or PARAMETER=VALUE to compare with a spec of this run\n");
  sandbox_.write("older.yaml", "");
  sandbox_.write("older.csv", "");
  EXPECT_TRUE(
      has(refusal({"--baseline", "older"}), "older: there is no such file, did you mean 'older.yaml'? Give the"));
  EXPECT_TRUE(
      has(refusal({"--baseline", "bench.yaml"}), "bench.yaml:1: this file has a grid, and no result of one spec"));
  sandbox_.write("shapes.yaml", "- {M: 1, N: 1, K: 1}\n");
  EXPECT_TRUE(has(refusal({"--baseline", "old.yaml", "--shapes", "shapes.yaml"}), "compare the runs with tune diff"));
  EXPECT_TRUE(has(refusal({"--threshold", "3%"}), "give --baseline too"));
  std::string other = sandbox_.read("old.yaml");
  const auto at = other.find("device:\n  name: ");
  ASSERT_NE(at, std::string::npos) << other;
  sandbox_.write("other.yaml", other.insert(at + 16, "Other "));
  EXPECT_TRUE(has(refusal({"--baseline", "other.yaml"}), "other.yaml is of the device Other"));
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--baseline", "old.yaml"}).code, 2) << "without --tune";
  const Result same = sandbox_.tune({"bench.yaml", "--tune", "--baseline", "old.yaml", "--output", "old"});
  EXPECT_EQ(same.code, 2) << same.out;
  EXPECT_TRUE(has(same.err, "old.yaml"));
}

}  // namespace
}  // namespace tune::cli::cli_baseline_test
