#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_output_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kRule = "--------------------------------------------------------------------------------\n";

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

/// The text without the line that differs between any two runs.
/// Without what differs from run to run.
std::string without_elapsed(const std::string& text) {
  std::istringstream lines(text);
  std::string rest;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("Elapsed tuning time: ") && !line.starts_with("  noise: ")) rest += line + "\n";
  return rest;
}

/// From `from` to the next rule.
std::string block_after(const std::string& text, const std::string& from) {
  const auto begin = text.find(from);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find("---", begin) - begin);
}

class Output : public testing::Test {
 protected:
  /// A run that is expected to find something.
  Result tune(const Words& arguments) {
    const Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    return result;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(sandbox_.folder() / name); }

  Sandbox sandbox_;
};

TEST_F(Output, TheBlocksOfTuneStandInTheirOrder) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  const Result result = tune({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_EQ(without_elapsed(result.out),
            "DECIDED: T=1 (spec 1), 1.000 ms +-0 %, the fastest of 3 specs\n"
            "  7 rounds of finals\n" +
                std::string(kRule) + "Tuning [bench] from [bench.sh]\n" + kRule +
                "Number of valid specs: 3\n"
                " mesh_idx      name  met (ms)  iters  +- %\n"
                "        1 bench/T=1  1.000000      7  0.00\n"
                "        2 bench/T=2  2.000000      5  0.00\n"
                "        0 bench/T=3  3.000000      5  0.00\n"
                "top_spec_idx: 1\n" +
                kRule + "Best Measured Time:\n" + kRule + "params:\n  T: 1\n" + kRule);
  EXPECT_EQ(masked(result.out.substr(result.out.find("Elapsed"))), "Elapsed tuning time: # (s)\n");
}

TEST_F(Output, AKernelsRowsHaveItsArithmetic) {
  sandbox_.write_gemm();
  const Result result = tune({"gemm.yaml", "--spec", "2", "--tune"});
  EXPECT_TRUE(has(result.out, " mesh_idx      name  met (ms)  iters  Arithmetic (GFLOPS/s)"));
  EXPECT_TRUE(has(result.out, "params:\n  BM: 4\n"));
}

TEST_F(Output, AProgramsGemmGivesItsArithmetic) {
  sandbox_.write_script("{T: [2, 1]}", "problem: {gemm: {m: 100, n: 100, k: 50}}\nobjective: gflops\n");
  const Result result = tune({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_TRUE(has(result.out,
                  " mesh_idx      name  met (ms)  iters  Arithmetic (GFLOPS/s)  +- %\n"
                  "        1 bench/T=1  1.000000      7               1.000000  0.00\n"));
  const Result larger = tune({"bench.yaml", "--tune", "-m", "200"});
  EXPECT_TRUE(has(larger.out, "        1 bench/T=1  1.000000      7               2.000000  0.00\n"));
}

TEST_F(Output, WithoutTuneTheGridStandsInMeshOrder) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  const Result result = tune({"bench.yaml", "--output", "all", "--top", "1"});
  EXPECT_EQ(without_elapsed(result.out), std::string(kRule) + "Tuning [bench] from [bench.sh]\n" + kRule +
                                             "Number of valid specs: 3\n"
                                             " mesh_idx      name  met (ms)  iters  +- %\n"
                                             "        0 bench/T=3  3.000000      1     -\n"
                                             "        1 bench/T=1  1.000000      1     -\n"
                                             "        2 bench/T=2  2.000000      1     -\n" +
                                             kRule);
  EXPECT_TRUE(exists("all.csv"));
  EXPECT_TRUE(exists("all.jsonl"));
  EXPECT_FALSE(exists("all.yaml"));
}

TEST_F(Output, TheSameWinnerGivesTheSameBestYaml) {
  sandbox_.write_gemm();
  tune({"gemm.yaml", "--spec", "1", "--tune", "--output", "first"});
  tune({"gemm.yaml", "--spec", "1", "--tune", "--output", "second"});
  const std::string best = sandbox_.read("first.yaml");
  EXPECT_TRUE(has(best, "params:\n  BM: 2\n"));
  EXPECT_EQ(masked(best), masked(sandbox_.read("second.yaml")));
}

TEST_F(Output, TheBestYamlTimesTheWinnerAgain) {
  sandbox_.write_script("{T: [3, 1, 2], $U: [a]}");
  tune({"bench.yaml", "--tune", "--output", "sub/best"});
  const Result again = tune({"sub/best.yaml", "--tune", "--output", "sub/again"});
  EXPECT_TRUE(has(again.out, "params:\n  T: 1\n  $U: a\n"));
  const std::string first = masked(sandbox_.read("sub/best.yaml"));
  EXPECT_TRUE(has(first, "  interval_ms: [#, #]\n"));
  EXPECT_EQ(first, masked(sandbox_.read("sub/again.yaml"))) << "one program alone is run several times, too";
  EXPECT_TRUE(has(sandbox_.read("sub/best.yaml"), "file: ../bench.sh\n"));
}

TEST_F(Output, TheParamsBlockIsATuningFilesParams) {
  sandbox_.write_script("{P: [[2, 1]], TEXT: [\"True\", \"1.0 a\"], T: 1, $R: [-1]}");
  const Result result = tune({"bench.yaml", "--tune", "--spec", "1"});
  sandbox_.write("block.yaml", "name: x\nfile: bench.sh\n" + block_after(result.out, "params:\n"));
  EXPECT_EQ(tune({"block.yaml", "--dry-run"}).out,
            "        0 P=[2, 1]/TEXT=1.0 a/T=1/R=-1\nNumber of valid specs: 1\n");
}

TEST_F(Output, TheCsvHasARowForEverySpec) {
  sandbox_.write_script("{SAYS: [result, dies], T: [2, 9]}", "constraints: [T < 9 or SAYS == 'dies']\n");
  tune({"bench.yaml", "--output", "all"});
  EXPECT_EQ(sandbox_.read("all.csv"),
            "mesh_idx,name,status,SAYS,T,met (ms),min (ms),mean (ms),p95 (ms),ci_low (ms),ci_high (ms),iters,checked,"
            "max_error,stage,cause,reason\n"
            "0,bench,ok,result,2,2,2,2,2,,,1,yes,0,,,\n"
            "2,bench,failed,dies,2,,,,,,,,,,measure,reported,the program ended with exit code 3: no such tile\n"
            "3,bench,failed,dies,9,,,,,,,,,,measure,reported,the program ended with exit code 3: no such tile\n"
            "1,bench,pruned,result,9,,,,,,,,,,,,T < 9 or SAYS == 'dies'\n");
}

TEST_F(Output, AnObjectiveThatCannotBeComputedIsSaidWithItsReason) {
  sandbox_.write_script("{T: [1, 2]}", "metrics: {x: time/(T-T), y: time*regs}\nobjective: x\n");
  const Result result = sandbox_.tune({"bench.yaml", "--tune", "--output", "all"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out,
                  "timed, but not ranked: 2\n"
                  "      2  objective x cannot be computed: division by zero in 'time/(T-T)'\n"
                  "         division by zero at T=1\n"
                  "         tune --yaml bench.yaml --spec 0\n"));
  EXPECT_TRUE(has(sandbox_.read("all.csv"), ",,objective x cannot be computed: division by zero in 'time/(T-T)',,\n"));
  const Result other = sandbox_.tune({"bench.yaml", "--tune", "--objective", "y"});
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(has(other.err,
                  "objective y cannot be computed: no regs was measured, which is in 'time*regs'; the program reports "
                  "no columns; let it print a line of JSON such as {\"regs\": 1.5} (--keep-going tries the other specs "
                  "anyway)\n"))
      << other.err;
}

TEST_F(Output, AColumnOfTheProgramMayBeTheObjective) {
  const char* script = "#!/bin/sh\nT=${1#--T=}\necho '{\"time\": 1, \"GB/s\": '$T'.5, \"heat\": '$T', \"T\": 9}'\n";
  std::filesystem::permissions(sandbox_.write("bench.sh", script), std::filesystem::perms::owner_all);
  const auto best = [this](const std::string& keys) {
    sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: {T: [2, 3, 1]}\n" + keys);
    return block_after(sandbox_.tune({"bench.yaml", "--tune"}).out, "params:\n");
  };
  EXPECT_EQ(best("objective: GB/s\n"), "params:\n  T: 3\n");
  EXPECT_EQ(best("objective: heat\n"), "params:\n  T: 1\n");
  EXPECT_EQ(best("objective: heat\nmetrics: {heat: {maximize: true}}\n"), "params:\n  T: 3\n");
  EXPECT_EQ(best("objective: x\nmetrics: {x: heat*T}\n"), "params:\n  T: 1\n") << "a parameter is not what it reports";
}

TEST_F(Output, AnObjectiveThatTheFirstSpecDoesNotReportEndsTheSweep) {
  const char* script = "#!/bin/sh\necho run >> runs\necho '{\"time\": 1, \"GB/s\": 5, \"heat\": 2}'\n";
  std::filesystem::permissions(sandbox_.write("bench.sh", script), std::filesystem::perms::owner_all);
  sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: {T: [2, 3, 1]}\n");
  const std::string missing = "objective GBs was not measured, did you mean 'GB/s'? The program reports GB/s, heat";
  Result result = sandbox_.tune({"bench.yaml", "--tune", "--objective", "GBs"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, missing + " (--keep-going tries the other specs anyway)\n")) << result.err;
  EXPECT_EQ(count(sandbox_.read("runs"), "run\n"), 1);
  result = sandbox_.tune({"bench.yaml", "--tune", "--objective", "time", "--objective", "GBs"});
  EXPECT_TRUE(has(result.err, missing)) << "the second objective: " << result.err;
  result = sandbox_.tune({"bench.yaml", "--tune", "--objective", "GBs", "--keep-going"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "      3  " + missing + "\n")) << result.out;
}

TEST_F(Output, AMetricThatTheFirstSpecDoesNotReportEndsTheSweep) {
  std::filesystem::permissions(sandbox_.write("bench.sh", "#!/bin/sh\necho '{\"time\": 1, \"heat\": 2}'\n"),
                               std::filesystem::perms::owner_all);
  sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: {T: [2, 3]}\nmetrics: {haet: {maximize: true}}\n");
  const Result result = sandbox_.tune({"bench.yaml", "--tune"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "metric haet was not measured, did you mean 'heat'? The program reports heat"))
      << result.err;
}

// The first two are equal by the first objective, and one of them is worse by the second.
TEST_F(Output, SeveralObjectivesDecideNothingAndMarkTheFront) {
  const char* script = "#!/bin/sh\nT=${1#--T=}\necho '{\"time\": 1, \"size\": '$((T / 2))', \"heat\": '$((9 - T))'}'\n";
  std::filesystem::permissions(sandbox_.write("bench.sh", script), std::filesystem::perms::owner_all);
  sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: {T: [2, 3, 4]}\nobjective: [size, heat]\n");
  const Result result = sandbox_.tune({"bench.yaml", "--tune", "--output", "all"});
  EXPECT_TRUE(result.out.starts_with("UNDECIDED: T=2 (spec 0), size 1, heat 7, 1000 ms; of several")) << result.out;
  EXPECT_TRUE(has(result.out, "\n  next: the same command with one objective decides\n")) << result.out;
  EXPECT_TRUE(has(result.out, "Best Measured size:\n")) << result.out;
  EXPECT_TRUE(has(result.out, "pareto: 2 specs")) << result.out;
  EXPECT_TRUE(has(sandbox_.read("all.yaml"), "    - {params: {T: 3}, objectives: {size: 1, heat: 6}}\n"));
}

TEST_F(Output, WhatAWholeCommandPrintsWithoutATimeIsAColumn) {
  sandbox_.write(
      "p.yaml",
      "{name: p, run: \"./p.sh {A}\", params: {A: [1, 2, 3]}, measure: {max_seconds: 0.02}, objective: size}\n");
  const char* script =
      "#!/bin/sh\necho '{\"size\": '$((90 / $1))', \"ok\": '$([ $1 = 3 ] && echo false || echo true)'}'\n";
  std::filesystem::permissions(sandbox_.write("p.sh", script), std::filesystem::perms::owner_all);
  const Result result = sandbox_.tune({"p.yaml", "--tune", "--output", "all"});
  EXPECT_TRUE(result.out.starts_with("DECIDED: A=2 (spec 1), size 45, ")) << result.out;
  EXPECT_FALSE(has(result.out, "the start of a process")) << "the times do not matter: " << result.out;
  EXPECT_TRUE(has(result.out, ": the program says that its result is wrong\n")) << result.out;
  EXPECT_FALSE(has(result.out, "checked: no")) << "each run said that it is right: " << result.out;
  EXPECT_TRUE(has(sandbox_.read("all.yaml"), "    size: 45\n")) << sandbox_.read("all.yaml");
  EXPECT_TRUE(has(result.out, "user_ms")) << result.out;
}

TEST_F(Output, HowSureAProgramsTimeIsStaysOpen) {
  std::filesystem::permissions(sandbox_.write("bench.sh", "#!/bin/sh\necho '{\"time\": 0.001, \"iters\": 50}'\n"),
                               std::filesystem::perms::owner_all);
  sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: {T: 1}\n");
  EXPECT_TRUE(has(tune({"bench.yaml", "--tune", "--no-finals", "--output", "all"}).out,
                  "        0 bench  1.000000     50     -  checked: no\n"));
  EXPECT_TRUE(has(sandbox_.read("all.csv"), "0,bench,ok,1,1,1,1,1,,,50,no,,,,,1,\n"));
  EXPECT_EQ(count(sandbox_.read("all.yaml"), "interval_ms"), 0);
  EXPECT_TRUE(has(tune({"bench.yaml", "--simulate", "all.csv"}).out, "        0 bench  1.000000     50     -"));
}

TEST_F(Output, AProgramsColumnsMayBeCalledAnything) {
  std::filesystem::permissions(
      sandbox_.write("bench.sh",
                     "#!/bin/sh\ncat <<'E'\n{\"time\": 1, \"status\": 5, \"T\": 6, \"a\\nb\": 7, \"regs\": 8}\nE\n"),
      std::filesystem::perms::owner_all);
  sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: {T: 1, S: [\"a\\nb\", c]}\n");
  const Result result = tune({"bench.yaml", "--output", "all"});
  EXPECT_TRUE(has(result.out, "met (ms)  iters  T (reported)      a\\nb      regs  status (reported)  +- %"));
  EXPECT_TRUE(has(result.out, "        0 bench/S=a\\nb  "));
  EXPECT_TRUE(has(sandbox_.read("all.csv"), "max_error,T (reported),\"a\nb\",regs,status (reported),stage,"));
}

TEST_F(Output, TopLimitsTheTable) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  const Result result = tune({"bench.yaml", "--tune", "--top", "2"});
  EXPECT_TRUE(has(result.out, "Number of valid specs: 3\n"));
  EXPECT_TRUE(has(result.out, "bench/T=2"));
  EXPECT_EQ(count(result.out, "bench/T=3"), 0);
  EXPECT_TRUE(has(result.out, "(1 more)\n"));
}

TEST_F(Output, ProgressGoesToStderrInPlainLines) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  const Result result = tune({"bench.yaml", "--tune"});
  EXPECT_TRUE(has(result.err, "3/3 | best 1.000 ms (1) T=1\n"));
  EXPECT_TRUE(has(masked(result.err), "time spent: programs # s, nothing to run # s, finals # s; beside that"));
  EXPECT_EQ((result.out + result.err).find_first_of("\r\x1b"), std::string::npos);
}

TEST_F(Output, QuietLeavesTheResults) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  const Result result = tune({"bench.yaml", "--tune", "--output", "best"});
  const Result quiet = tune({"bench.yaml", "--tune", "--output", "quiet", "--quiet"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(without_elapsed(quiet.out), without_elapsed(result.out));
}

TEST_F(Output, WithoutAnOutputTheJournalIsTheUsers) {
  sandbox_.write_script("{T: 1}");
  const Result result = tune({"bench.yaml"});
  EXPECT_TRUE(has(result.out, "note: journal: " + (sandbox_.folder() / "state/tune/bench-").string()));
}

TEST_F(Output, EscapesOfProgramsDoNotReachTheTerminal) {
  sandbox_.write_script("{T: 1}",
                        "build: {command: [sh, -c, 'printf \"\\033[31merror: red\\n\" >&2; exit 1', \"{defines}\"]}\n");
  const Result result = sandbox_.tune({"bench.yaml"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "red"));
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
}

TEST_F(Output, TheDefaultIsTriedFirstAndItsRatioIsShown) {
  sandbox_.write_script("{T: [1, 2, 4]}", "default: {T: 4}\n");
  const Result result = tune({"bench.yaml", "--tune", "--finalists", "1"});
  EXPECT_TRUE(sandbox_.read("runs.txt").starts_with("--T=4\n"));
  EXPECT_TRUE(has(result.out, "        0 bench/T=1  1.000000      7  0.00      4.000\n"));
  EXPECT_TRUE(has(result.out, "        2   default  4.000000      5  0.00      1.000\n"));
}

TEST_F(Output, ADefaultThatIsFilteredOutCannotWin) {
  sandbox_.write_script("{T: [1, 2, 4]}", "default: {T: 1}\n");
  const Result result = tune({"bench.yaml", "--tune", "--filter", "T=4", "--filter", "T=2"});
  EXPECT_TRUE(has(result.out, "Number of valid specs: 2\n"));
  EXPECT_TRUE(has(result.out, "top_spec_idx: 1\n"));
}

TEST_F(Output, BaselinesAreTimedInTheFinals) {
  sandbox_.write_script("{T: [2, 4]}", "baseline: [{T: 8}, {T: 4}, old.yaml]\n");
  sandbox_.write("old.yaml", "name: bench\nfile: bench.sh\nparams: {T: 1}\n");
  const Result result = tune({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n"));
  EXPECT_TRUE(has(result.out, "x baseline  x baseline 2  x old.yaml\n"));
  EXPECT_TRUE(has(result.out, "bench/T=2  2.000000      7  0.00       4.000         2.000       0.500\n"));
  EXPECT_TRUE(has(result.out, "        -   baseline  8.000000"));
  EXPECT_TRUE(has(sandbox_.read("best.yaml"), "baseline: 4\n"));
}

TEST_F(Output, AnAbsentOrPrunedBaselineIsANote) {
  sandbox_.write_script("{T: [2, 4]}", "constraints: [{if: T < 9, because: too slow}]\nbaseline: {T: 9}\n");
  EXPECT_TRUE(has(tune({"bench.yaml", "--tune"}).out, "note: baseline is pruned: too slow\n"));
}

TEST_F(Output, ADefaultThatIsMissingInTheTableIsANote) {
  const std::string slow = "constraints: [{if: T < 9, because: too slow}]\n";
  const auto notes = [this](const std::string& params, const std::string& extra, const Words& more = {}) {
    sandbox_.write_script(params, extra);
    Words words = {"bench.yaml", "--tune"};
    words.insert(words.end(), more.begin(), more.end());
    return tune(words).out;
  };
  EXPECT_TRUE(has(notes("{SAYS: [result, dies], T: [1, 2]}", "default: {SAYS: dies, T: 1}\n"),
                  "note: default failed: the program ended with exit code 3: no such tile\n"));
  EXPECT_TRUE(has(notes("{T: [1, 9]}", slow + "default: {T: 9}\n"), "note: default is pruned: too slow\n"));
  EXPECT_TRUE(has(notes("{T: [1, 2]}", "default: {T: 2}\n", {"--filter", "T=1"}),
                  "note: default is not tried: it is not among the specs of this run\n"));
  EXPECT_TRUE(has(notes("{T: [1, 9], U: [1, 2]}", slow + "default: {T: 9}\n"),
                  "note: default is not tried: no spec has its values\n"));
}

TEST_F(Output, TheVendorsLibraryIsARowOrANote) {
  sandbox_.write_gemm("baseline: vendor\n");
  const Result result = tune({"gemm.yaml", "--tune", "--filter", "BM=4"});
  const bool row = result.out.find("x vendor") != std::string::npos;
  const bool note = result.out.find("note: baseline vendor: cannot load") != std::string::npos;
  EXPECT_NE(row, note) << result.out;
}

TEST_F(Output, ATieGoesToTheLowestIndex) {
  sandbox_.write_script("{U: [a, b, c], T: 1}");
  const Result result = tune({"bench.yaml", "--tune"});
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n"));
  EXPECT_EQ(count(result.out, "  tie\n"), 3) << result.out;
}

TEST_F(Output, ADeclaredMetricIsAColumnAndCanBeTheObjective) {
  sandbox_.write_script("{T: [1, 2, 4]}", "metrics: {idle: {expr: T*time*1e3, maximize: true}}\nobjective: idle\n");
  const Result result = tune({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_TRUE(has(result.out, "idle"));
  EXPECT_TRUE(has(result.out, "16.000000"));
  EXPECT_TRUE(has(result.out, "top_spec_idx: 2\n"));
  EXPECT_TRUE(has(sandbox_.read("best.yaml"), "idle: 16\n"));
}

TEST_F(Output, AProgramsOwnColumnsAreShown) {
  sandbox_.write("rate.sh", "#!/bin/sh\necho '{\"time\": 1e-3, \"ok\": true, \"GB/s\": 12.5}'\n");
  std::filesystem::permissions(sandbox_.folder() / "rate.sh", std::filesystem::perms::owner_all);
  sandbox_.write("rate.yaml", "name: rate\nfile: rate.sh\nparams: {T: 1}\n");
  const Result result = tune({"rate.yaml", "--output", "all"});
  EXPECT_TRUE(has(result.out, "GB/s"));
  EXPECT_TRUE(has(result.out, "12.500000"));
  EXPECT_TRUE(has(sandbox_.read("all.csv"), ",GB/s,"));
}

TEST_F(Output, WhatWasNotCheckedSaysSo) {
  sandbox_.write_script("{SAYS: plain}");
  const Result result = tune({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_TRUE(has(result.out, "checked: no"));
  EXPECT_TRUE(has(sandbox_.read("best.yaml"), "  checked: no\n"));
}

TEST_F(Output, BadResultsOfProgramsAreGroupedByReason) {
  sandbox_.write_script("{SAYS: [result, wrong, two, nothing, garbage, zero, dies, crashes], T: [1, 2]}");
  const Result result = tune({"bench.yaml", "--tune"});
  EXPECT_TRUE(has(result.out, "\n2 of 16 measured\n"));
  const std::size_t begin = result.out.find("failed: "), end = result.out.find("each of them: tune show ");
  EXPECT_EQ(result.out.substr(begin, end - begin),
            "failed: 14\n"
            "      2  check, reported: the program says that its result is wrong\n"
            "         all have SAYS=wrong\n"
            "         tune --yaml bench.yaml --spec 2\n"
            "      2  measure, reported: 2 results on stdout: a program must run exactly one case\n"
            "         all have SAYS=two\n"
            "         tune --yaml bench.yaml --spec 4\n"
            "      2  measure, reported: the program wrote no result: neither the file named by TUNE_RESULT nor a JSON "
            "line on "
            "stdout\n"
            "         all have SAYS=nothing\n"
            "         tune --yaml bench.yaml --spec 6\n"
            "      2  measure, reported: the result on stdout is not valid JSON: it ends in the middle\n"
            "         all have SAYS=garbage\n"
            "         tune --yaml bench.yaml --spec 8\n"
            "      2  measure, reported: 'time' of the result is 0, not a finite positive number\n"
            "         all have SAYS=zero\n"
            "         tune --yaml bench.yaml --spec 10\n"
            "      2  measure, reported: the program ended with exit code 3: no such tile\n"
            "         all have SAYS=dies\n"
            "         tune --yaml bench.yaml --spec 12\n"
            "      2  measure, reported: the program was killed by signal 11 (segmentation fault)\n"
            "         all have SAYS=crashes\n"
            "         tune --yaml bench.yaml --spec 14\n");
}

TEST_F(Output, ARunWithoutAValidSpecEndsWithOne) {
  sandbox_.write_script("{SAYS: [wrong, dies]}");
  const Result result = sandbox_.tune({"bench.yaml", "--tune", "--output", "best"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(count(result.out, "top_spec_idx"), 0);
  EXPECT_FALSE(exists("best.yaml"));
}

TEST_F(Output, CompareTurnsAWrongResultIntoItsOwnExitCode) {
  sandbox_.write_gemm("", "  for (int i = 0; i < m * n; ++i) C[i] = BM == 4 ? 1 : 0;\n");
  EXPECT_EQ(sandbox_.tune({"gemm.yaml"}).code, 1);
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--compare", "--output", "out"}).code, 3);
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--compare", "--simulate", "out.jsonl"}).code, 3);
  sandbox_.write_gemm();
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--compare_wo_tuning"}).code, 0);
}

TEST_F(Output, KeepSavesWhatFailed) {
  sandbox_.write_script("{SAYS: [result, dies]}");
  tune({"bench.yaml", "--keep", "kept"});
  EXPECT_FALSE(exists("kept/0"));
  EXPECT_EQ(sandbox_.read("kept/1/bench.sh"), sandbox_.read("bench.sh"));
  EXPECT_EQ(sandbox_.read("kept/1/log.txt"), "the program ended with exit code 3: no such tile\nno such tile\n");
}

TEST_F(Output, SpecsThatAllFailAlikeStopTheRun) {
  sandbox_.write_gemm("", "  syntax error;\n");
  const Words command = {"gemm.yaml", "--param", "BM:{range: [1, 30]}", "--jobs", "2"};
  const Result result = sandbox_.tune(command);
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "failed: 20\n"));
  EXPECT_EQ(count(result.out, "note: the first 20 specs all failed alike\n"), 1);
  EXPECT_TRUE(has(result.out, "(--keep-going tries the others anyway)\n"));
}

TEST_F(Output, WhereAllSpecsAreWrongAlikeTheReferenceIsInDoubt) {
  sandbox_.write_gemm("", "  for (int i = 0; i < m * n; ++i) C[i] = 7;\n  return;\n");
  const Result result = sandbox_.tune({"gemm.yaml", "--param", "BM:{range: [1, 30]}", "--jobs", "2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "specs all failed alike: if their results are right, reference: is not")) << result.out;
}

TEST_F(Output, AResumedRunThatStillFailsAlikeStopsAtOnce) {
  sandbox_.write_script("{SAYS: dies, T: {range: [1, 60]}}");
  sandbox_.tune({"bench.yaml", "--jobs", "2"});
  ASSERT_EQ(sandbox_.script_runs(), 20);
  EXPECT_TRUE(has(sandbox_.tune({"bench.yaml", "--jobs", "2"}).out, "note: the first 21 specs all failed alike\n"));
  EXPECT_EQ(sandbox_.script_runs(), 21);
}

TEST_F(Output, KeepGoingTriesThemAll) {
  sandbox_.write_script("{SAYS: dies, T: {range: [1, 30]}}");
  const Words command = {"bench.yaml", "--jobs", "2"};
  EXPECT_TRUE(has(sandbox_.tune(command).out, "failed: 20\n"));
  Words keep_going = command;
  keep_going.insert(keep_going.end(), {"--keep-going", "--retry-failed"});
  const Result result = sandbox_.tune(keep_going);
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "failed: 30\n"));
}

TEST_F(Output, AnAbsentCompilerIsOneError) {
  sandbox_.write_gemm();
  sandbox_.environment["CXX"] = "/nonexistent/c++";
  const Result result = sandbox_.tune({"gemm.yaml", "--quiet"});
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(count(result.err, "tune: error: "), 1) << result.err;
  EXPECT_TRUE(has(result.err, "compiler"));
  EXPECT_TRUE(has(result.err, "CXX is '/nonexistent/c++', which does not run"));
}

/// Builds: what is shared, and what is done again.
class Builds : public Output {
 protected:
  /// A kernel with a macro BM, a header, and a run-time argument REPEAT.
  void write_repeated_gemm(const std::string& params, const std::string& extra = "") {
    sandbox_.write("repeat.h", "#define START 0\n");
    sandbox_.write("gemm.cpp", R"(#include "repeat.h"
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int repeat) {
  for (int time = START; time < repeat; ++time)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
      }
}
)");
    sandbox_.write("gemm.yaml",
                   "name: gemm\nfile: gemm.cpp\nkernel: gemm\nproblem: {gemm: {m: 16, n: 16, k: 16}}\nparams: " +
                       params + "\nlaunch: {args: [A, B, C, m, n, k, REPEAT]}\nmeasure: {max_seconds: 0.01}\n" + extra);
  }
};

TEST_F(Builds, RunTimeParametersShareOne) {
  write_repeated_gemm("{BM: [1, 2], $REPEAT: [1, 2, 3]}");
  EXPECT_TRUE(has(tune({"gemm.yaml"}).out, "Number of valid specs: 6\n"));
  EXPECT_EQ(sandbox_.artifacts(), 2);
}

TEST_F(Builds, EqualSpecsOfAUnionShareOne) {
  write_repeated_gemm("[{BM: 1, $REPEAT: 1}, {BM: 1, $REPEAT: 2}]");
  EXPECT_TRUE(has(tune({"gemm.yaml"}).out, "Number of valid specs: 2\n"));
  EXPECT_EQ(sandbox_.artifacts(), 1);
}

TEST_F(Builds, OnlyAChangedHeaderMakesANewOne) {
  write_repeated_gemm("{BM: 1, $REPEAT: 1}");
  tune({"gemm.yaml", "--output", "all"});
  tune({"gemm.yaml", "--output", "all"});
  EXPECT_EQ(sandbox_.artifacts(), 1);
  EXPECT_EQ(sandbox_.trials("all.jsonl").size(), 1u);
  sandbox_.write("repeat.h", "#define START -1\n");
  tune({"gemm.yaml", "--output", "all"});
  EXPECT_EQ(sandbox_.artifacts(), 2);
  EXPECT_EQ(sandbox_.trials("all.jsonl").size(), 2u);
}

TEST_F(Builds, WhatTheyTellOfThemselvesCanPrune) {
  write_repeated_gemm("{BM: [1, 2], $REPEAT: 1}",
                      "prune_after_build:\n  - {if: code < 1 or BM == 1, because: too much code}\n  - stack >= 0\n");
  const Result result = tune({"gemm.yaml", "--output", "all"});
  EXPECT_TRUE(has(result.out, "\n1 of 2 measured\n"));
  EXPECT_TRUE(has(result.out,
                  "pruned after the build: 1\n      1  too much code\n         it has BM=2\n         tune --yaml "
                  "gemm.yaml --spec 1\n"));
  EXPECT_TRUE(has(sandbox_.read("all.csv"), "\n1,gemm,pruned after build,2,1,"));
  const Result built = tune({"gemm.yaml", "--build-only"});
  EXPECT_TRUE(has(built.out, "pruned after the build: 1\n      1  too much code\n")) << built.out;
  EXPECT_TRUE(has(built.out, "Number of valid built specs: 1 (out of 2)\n")) << built.out;
}

TEST_F(Builds, BuildOnlyRunsNothing) {
  sandbox_.write_gemm();
  EXPECT_EQ(tune({"gemm.yaml", "--build-only", "--quiet", "--max-evals", "2"}).out,
            "Number of valid built specs: 2 (out of 2)\n");
  EXPECT_EQ(sandbox_.artifacts(), 2);
  EXPECT_FALSE(exists("state"));
  sandbox_.write_gemm("", "#if BM == 2\n#error two\n#endif\n");
  const Result result = tune({"gemm.yaml", "--build-only"});
  EXPECT_TRUE(has(result.out, "failed: 1\n"));
  EXPECT_TRUE(has(result.out, "#error two"));
  EXPECT_TRUE(has(result.out, "         tune --yaml gemm.yaml --build-only --spec 1\n"));
  EXPECT_TRUE(has(result.out, "Number of valid built specs: 3 (out of 4)\n"));
}

TEST_F(Builds, WhatReproducesAFailureBuildsForTheSameDevice) {
  sandbox_.write_script("{T: 1}",
                        "build: {command: [sh, -c, 'echo error for $0 >&2; exit 1', '{arch}', '{defines}']}\n");
  sandbox_.write("device.yaml", "name: other\ndriver: '1'\narch: x\nproperties: {cores: 2}\n");
  const Words words = {"--yaml", "bench.yaml", "--build-only", "--device-file", "device.yaml", "--arch", "sm_90a",
                       "--spec", "0"};
  const Result result = sandbox_.tune(words);
  EXPECT_EQ(result.code, 1) << result.err;
  std::string command = "         tune";
  for (const std::string& word : words) command += " " + word;
  EXPECT_TRUE(has(result.out, command + "\n"));
}

TEST_F(Builds, ACppProgramIsBuiltPerKeyAndRunPerSpec) {
  sandbox_.write("sum.cpp", R"(#include <tune/bench.h>
int main(int argc, char** argv) {
  const tune::bench::Arguments arguments(argc, argv);
  volatile long long sum = 0;
  const auto add = [&] { for (long long i = 0; i < STEP * arguments.integer("COUNT", 0); ++i) sum = sum + i; };
  auto result = tune::bench::measure("sum", add, {0, 3, 3, 1});
  result.ok(sum >= 0);
  return tune::bench::report(result, arguments);
}
)");
  sandbox_.write("sum.yaml", "name: sum\nfile: sum.cpp\nparams: {STEP: [1, 2], $COUNT: [100, 200]}\n");
  const Result result = tune({"sum.yaml", "--tune"});
  EXPECT_TRUE(has(result.out, "Number of valid specs: 4\n"));
  EXPECT_EQ(sandbox_.artifacts(), 2);
}

TEST_F(Builds, APythonScriptNeedsNone) {
  if (std::system("python3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  std::filesystem::copy_file(TUNE_SOURCE_DIR "/demo/bench_gemm.py", sandbox_.folder() / "bench_gemm.py");
  sandbox_.write("python.yaml", "name: python\nfile: bench_gemm.py\nparams: {BM: 96, BN: 96, BK: 96, INNER: [rows]}\n");
  EXPECT_TRUE(has(tune({"python.yaml"}).out, "Number of valid specs: 1\n"));
  EXPECT_EQ(sandbox_.artifacts(), 0);
}

}  // namespace
}  // namespace tune::cli::cli_output_test
