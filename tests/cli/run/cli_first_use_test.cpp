// What someone sees who has not used tune before.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_first_use_test {
namespace {

using Words = std::vector<std::string>;

class FirstUse : public testing::Test {
 protected:
  Result tune(Words words) { return sandbox_.tune(words); }

  Sandbox sandbox_;
};

TEST_F(FirstUse, ARunBeginsWithWhatIsToBeDone) {
  sandbox_.write_script("{T: [1, 2, 3]}");
  const Result first = tune({"bench.yaml", "--tune", "--output", "out"});
  EXPECT_TRUE(std::regex_search(first.err, std::regex("^bench on .*: 3 specs\n"))) << first.err;
  EXPECT_FALSE(has(first.err, "estimate:")) << "it ends at once";
  EXPECT_FALSE(has(tune({"bench.yaml", "--tune", "--output", "out"}).err, "3 specs")) << "nothing is left to be done";
  EXPECT_FALSE(has(tune({"bench.yaml", "--tune", "--quiet", "--output", "quiet"}).err, "3 specs"));
}

TEST_F(FirstUse, AnEstimateSaysWhatABudgetLeavesOut) {
  sandbox_.write_script("{$T: {range: [1, 100000]}}");
  const Result result = tune({"bench.yaml", "--tune", "--no-finals", "--strategy", "exhaustive", "--time-budget", "2"});
  EXPECT_TRUE(std::regex_search(result.err, std::regex("\nestimate: at most 2 s, the --time-budget; all 100000 specs "
                                                       "would take .*; from the first 4 specs\n")))
      << result.err;
}

TEST_F(FirstUse, AnEstimateThatTheFirstSpecsMadeTooLongIsPutRight) {
  sandbox_.write_script("{$T: {range: [1, 300]}}");
  const std::string script = sandbox_.read("bench.sh");
  sandbox_.write("bench.sh", script + "case \" $* \" in *--T=[1-4]\\ *) sleep 0.4 ;; esac\n");
  const Result result = tune({"bench.yaml", "--tune", "--no-finals", "--strategy", "exhaustive"});
  const std::regex both("\nestimate: [23] min; from the first 4 specs\n(.*\n)*estimate: .*; from the first 15 specs\n");
  EXPECT_TRUE(std::regex_search(result.err, both)) << result.err;
}

TEST_F(FirstUse, AListOfSizesHasOneEstimate) {
  sandbox_.write_script("{$T: {range: [1, 100000]}}");
  sandbox_.write("sizes.yaml", "- {M: 1}\n- {M: 2}\n- {M: 3}\n");
  const Result result = tune({"bench.yaml", "--shapes", "sizes.yaml", "--tune", "--no-finals", "--strategy",
                              "exhaustive", "--time-budget", "1"});
  const std::string line = "estimate: 3 s for 3 tunings, if all are like this one, within the --time-budget of each";
  ASSERT_TRUE(has(result.err, line)) << result.err << result.out;
  EXPECT_EQ(result.err.find("estimate:"), result.err.rfind("estimate:")) << result.err;
}

TEST_F(FirstUse, ADryRunOfAListOfSizesHasOneEstimate) {
  sandbox_.write_script("{T: [1, 2, 3, 4, 5, 6, 7, 8]}");
  sandbox_.write("sizes.yaml", "- {M: 1}\n- {M: 2}\n- {M: 3}\n");
  const std::vector<std::string> words = {"bench.yaml", "--shapes", "sizes.yaml", "--output", "out"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return tune(more);
  };
  EXPECT_EQ(with({"--dry-run"}).err, "8 specs; time unknown: the journal knows too few of them\n");
  with({"--max-evals", "5"});
  const std::string known = with({"--dry-run"}).err;
  EXPECT_TRUE(
      std::regex_match(known, std::regex("8 specs; the journal knows 5 of the specs; estimate: .* s for 3 tunings, "
                                         "if all are like this one; from 5 specs in the journal\n")))
      << known;
  with({});
  EXPECT_EQ(with({"--dry-run"}).err, "");
}

TEST_F(FirstUse, ADryRunSaysWhatTheJournalKnows) {
  sandbox_.write_script("{T: [1, 2, 3]}");
  const Result nothing = tune({"bench.yaml", "--tune", "--dry-run", "--output", "out"});
  EXPECT_EQ(nothing.code, 0);
  EXPECT_EQ(nothing.err, "3 specs; time unknown: the journal knows too few of them\n");
  EXPECT_EQ(sandbox_.script_runs(), 0);
  tune({"bench.yaml", "--output", "out"});
  EXPECT_EQ(tune({"bench.yaml", "--dry-run", "--output", "out"}).err,
            "3 specs; the journal knows 3 of the specs: nothing is left to be timed\n");
  EXPECT_EQ(tune({"bench.yaml", "--dry-run", "--quiet", "--output", "out"}).err, "");
  sandbox_.write_script("{T: [1, 2, 3, 4, 5, 6, 7]}");
  tune({"bench.yaml", "--max-evals", "5", "--output", "out"});
  EXPECT_TRUE(std::regex_search(tune({"bench.yaml", "--dry-run", "--output", "out"}).err,
                                std::regex("^7 specs; the journal knows [56] of the specs; estimate: .* s; from [56] "
                                           "specs in the journal\n$")));
}

TEST_F(FirstUse, TheTableHasTwentyRowsAndTheLastLineNamesTheOthers) {
  sandbox_.write_script("{$T: {range: [1, 25]}}");
  const Result without = tune({"bench.yaml", "--tune", "--no-finals"});
  EXPECT_TRUE(without.out.ends_with("\nthe same command with --top all shows the other 5 specs\n")) << without.out;
  EXPECT_FALSE(has(tune({"bench.yaml", "--tune", "--no-finals", "--top", "all"}).out, "--top all"));
  const Result with = tune({"bench.yaml", "--tune", "--no-finals", "--output", "out"});
  EXPECT_TRUE(has(with.out, "(5 more: out.csv, or the same command with --top all)\n")) << with.out;
  EXPECT_FALSE(with.out.ends_with("specs\n"));
}

TEST_F(FirstUse, OneOtherSpecIsNotCalledSpecs) {
  sandbox_.write_script("{$T: {range: [1, 3]}}");
  const Result result = tune({"bench.yaml", "--tune", "--no-finals", "--top", "2"});
  EXPECT_TRUE(result.out.ends_with("\nthe same command with --top all shows the other spec\n")) << result.out;
}

TEST_F(FirstUse, AValidSpecIsOneThatNoConstraintPrunes) {
  sandbox_.write_script("{T: [1, 2, 3], SAYS: [right, dies]}\nconstraints: [T != 3]");
  EXPECT_TRUE(tune({"bench.yaml", "--dry-run"}).out.ends_with("Number of valid specs: 4\n"));
  EXPECT_TRUE(has(tune({"bench.yaml", "--tune", "--no-finals"}).out, "Number of valid specs: 4\n2 of 4 measured\n"));
}

TEST_F(FirstUse, SpecsThatFailAlikeAreListedByTheCommandThatIsNamed) {
  sandbox_.write_script("{T: [1, 2, 3], SAYS: [plain, dies]}");
  const Result result = tune({"bench.yaml", "--tune", "--no-finals", "--output", "out"});
  EXPECT_TRUE(has(result.out, "\neach of them: tune show out --failed --top all\n")) << result.out;
  EXPECT_EQ(tune({"show", "out"}).out, result.out);
  const Result listed = tune({"show", "out", "--failed"});
  EXPECT_TRUE(has(listed.out, "failed: 3 of 6\n")) << listed.out << listed.err;
  EXPECT_TRUE(has(listed.out, "failed: 3 of 6\n      1  T=1/SAYS=dies  ")) << listed.out;
  EXPECT_TRUE(has(listed.out, "\n         and 2 others alike: 3, 5\n")) << listed.out;
  EXPECT_FALSE(has(listed.out, "T=2")) << listed.out;
  const Result all = tune({"show", "out", "--failed", "--top", "all"});
  EXPECT_TRUE(has(all.out, "\n      3  T=2/SAYS=dies  ")) << all.out;
  sandbox_.write_script("{T: [1, 2], SAYS: plain}");
  EXPECT_FALSE(has(tune({"bench.yaml", "--tune", "--no-finals", "--output", "well"}).out, "each of them"));
}

TEST_F(FirstUse, WhatIsWrongIsListedForEachSpec) {
  sandbox_.write_gemm("", "for (int i = 0; i < m * n; ++i) C[i] = i < BM ? 0 : 1000;");
  tune({"gemm.yaml", "--tune", "--output", "out"});
  const std::string listed = tune({"show", "out", "--failed"}).out;
  EXPECT_TRUE(has(listed, "\n         4096 of 4096 elements are wrong (100 %)")) << listed;
}

TEST_F(FirstUse, OneFailureEndsARunWhoseSourceLacksTheKernel) {
  sandbox_.write_gemm();
  std::string source = sandbox_.read("gemm.cpp");
  sandbox_.write("gemm.cpp", source.replace(source.find("gemm("), 4, "gem"));
  const Result result = tune({"gemm.yaml", "--tune", "--param", "BM:{range: [1, 9]}", "--jobs", "1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "failed: 1\n"));
  EXPECT_TRUE(has(result.out,
                  "note: this failed, and so will all specs: gemm.yaml: there is no function 'gemm' in "
                  "gemm.cpp, which kernel names, did you mean 'gem'?\n"))
      << result.out;
}

TEST_F(FirstUse, ADryRunComparesTheLaunchWithTheSource) {
  const std::string body = " {\n  for (int i = 0; i < n; i += step) y[i] = 2 * x[i] * A;\n}\n";
  sandbox_.write("k.cpp", "extern \"C\" void twice(const float* x, float* y, int n, int step)" + body);
  const auto said = [&](const std::string& args, const std::string& reference, const std::string& more = "",
                        const std::string& type = "f32") {
    sandbox_.write("k.yaml",
                   "name: k\nfile: k.cpp\nkernel: twice\nproblem:\n  custom:\n    sizes: {n: 8}\n    buffers:\n"
                   "      - {name: x, type: " +
                       type +
                       ", count: n, role: in}\n      - {name: y, type: f32, count: n, role: out}\n"
                       "    reference: {kernel: " +
                       reference + ", args: [x, y, n, 1]}\nparams: {A: 1}\nlaunch: {args: " + args + "}\n" + more);
    const Result result = tune({"k.yaml", "--dry-run"});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  };
  EXPECT_FALSE(has(said("[x, y, n, 1]", "twice"), "warning"));
  EXPECT_TRUE(
      has(said("[x, y, n]", "twice"), "warning: k.yaml: launch: args has 3, and 'twice' takes 4: x, y, n, step\n"));
  EXPECT_TRUE(has(said("[x, y, n, 1]", "once"),
                  "warning: k.yaml: there is no function 'once' in k.cpp, which reference names\n"));
  EXPECT_TRUE(has(tune({"k.yaml", "--dry-run", "--quiet"}).err, "there is no function 'once' in k.cpp"));
  const std::string flags = "build: {flags: [-O2, -DB=1]}\n";
  EXPECT_TRUE(has(said("[x, y, n, 1]", "twise", flags),
                  "warning: k.yaml: there is no function 'twise' in k.cpp, which reference names, did you mean "
                  "'twice'?\n"));
  EXPECT_FALSE(has(said("[x, y, n, 1]", "once", "build: {flags: [-Dtwice=once]}\n"), "warning"));
  sandbox_.write("k.cpp", "extern \"C\" void twice(const double *x, float* __restrict y, int n, int step)" + body);
  EXPECT_TRUE(has(said("[x, y, n, 1]", "twice"),
                  "warning: k.yaml: launch: 'x' has type f32, and 'twice' takes a double* for it\n"));
  sandbox_.write("k.cpp", "extern \"C\" void twice(const float* x, float* y, int n, int step)" + body);
  EXPECT_TRUE(has(said("[x, y, n, 1]", "twice", "", "f16"), "'x' has type f16, and 'twice' takes a float* for it\n"));
  // What only a compiler can tell is not complained of.
  for (const char* source :
       {"extern \"C\" void twice(const float* x, float* y,\n#if A == 2\nint before,\n#endif\nint n, int step)",
        "#define MORE , int step\nextern \"C\" void twice(const float* x, float* y, int n MORE)",
        "#if A == 2\nextern \"C\" void twice(int n, int step) {}\n#else\n"
        "extern \"C\" void twice(const float* x, float* y, int n, int step) {}\n#endif\nvoid other(int n, int step)",
        "#define NAME(part) part##ce\nextern \"C\" void NAME(twi)(const float* x, float* y, int n, int step)"}) {
    sandbox_.write("k.cpp", source + body);
    EXPECT_FALSE(has(said("[x, y, n]", "twice"), "warning")) << source;
  }
}

TEST_F(FirstUse, ADryRunHasNothingAgainstOurOwnSources) {
  const std::string configs = TUNE_SOURCE_DIR "/configs/";
  for (const Words& words :
       {Words{"gemm_grouped.yaml", "--backend", "cuda"}, Words{"gemm_scaled.yaml", "--backend", "cuda"},
        Words{"gemm_grouped_cpu.yaml"}, Words{"gemm_scaled_cpu.yaml"},
        Words{"gemm_cpu.yaml", "--problem", "bias=row", "--problem", "epilogue=relu"}, Words{"hopper_bf16.yaml"},
        Words{"hopper_grouped.yaml"}, Words{"softmax.yaml", "--backend", "cuda"}}) {
    Words all = {configs + words.front(), "--dry-run"};
    all.insert(all.end(), words.begin() + 1, words.end());
    const Result result = tune(all);
    EXPECT_FALSE(has(result.err, "args has") || has(result.err, "no function")) << result.err;
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST_F(FirstUse, AMisspelledKeyIsNotMissing) {
  sandbox_.write("bench.yaml", "name: bench\nrun: echo {args}\nparms: {T: [1, 2]}\n");
  EXPECT_EQ(tune({"bench.yaml"}).err,
            "tune: error: bench.yaml:3: unknown key 'parms' in the tuning file, did you mean 'params'?\n");
  sandbox_.write("bench.yaml", "name: bench\nrun: echo {args}\nparameters: {T: [1, 2]}\n");
  EXPECT_EQ(tune({"bench.yaml"}).err,
            "tune: error: bench.yaml:3: unknown key 'parameters' in the tuning file, did you mean 'params'?\n");
}

TEST_F(FirstUse, TheNamesOfAMisspelledKeyAreKnown) {
  sandbox_.write_gemm();
  std::string yaml = sandbox_.read("gemm.yaml");
  sandbox_.write("gemm.yaml", yaml.replace(yaml.find("params:"), 7, "parms:") + "constraints: [BM < 8]\n");
  EXPECT_TRUE(
      std::regex_match(tune({"gemm.yaml"}).err,
                       std::regex("tune: error: gemm.yaml:[0-9]+: unknown key 'parms' in the tuning file, did you "
                                  "mean 'params'\\?\n")))
      << tune({"gemm.yaml"}).err;
}

TEST_F(FirstUse, ThePlaceholdersOfAMisspelledKeyAreKnown) {
  for (const char* params : {"{T: [1, 2]}", "{$T: [1, 2]}", "[{T: [1, 2]}, {T: 3}]"}) {
    sandbox_.write("bench.yaml", std::string("name: bench\nrun: echo {T}\nparms: ") + params + "\n");
    EXPECT_EQ(tune({"bench.yaml"}).err,
              "tune: error: bench.yaml:3: unknown key 'parms' in the tuning file, did you mean 'params'?\n")
        << params;
  }
  sandbox_.write("bench.yaml", "name: bench\nrun: echo {U}\nparms: {T: [1, 2]}\n");
  EXPECT_TRUE(has(tune({"bench.yaml"}).err, "bench.yaml:2: unknown placeholder {U} in run"));
}

TEST_F(FirstUse, ARangeThatIsATextIsSaidToBeOne) {
  for (const char* range : {"4..64", "4...64", "4-64", "4:64", "4:64:4"}) {
    sandbox_.write_script(std::string("{T: ") + range + "}");
    EXPECT_TRUE(has(tune({"bench.yaml", "--dry-run"}).err, std::string("parameter 'T' has the text '") + range +
                                                               "' as one value; write several as [2, 4, 8], {range: "
                                                               "[2, 8]} or {pow2: [2, 8]}, or quote the text"))
        << range;
  }
}

TEST_F(FirstUse, TheStatisticDecidesTheSweepAndIsNamedEverywhere) {
  sandbox_.write_script("{T: [3, 1, 2]}");
  const std::vector<std::string> words = {"bench.yaml", "--tune", "--no-finals", "--output", "out"};
  ASSERT_EQ(tune(words).code, 0);
  std::istringstream lines(sandbox_.read("out.jsonl"));
  std::string journal;
  for (std::string line; std::getline(lines, line);)
    journal +=
        (has(line, "\"mesh_idx\":0,") ? std::regex_replace(line, std::regex("\"min\":[0-9.e-]+"), "\"min\":0.0005")
                                      : line) +
        "\n";
  sandbox_.write("out.jsonl", journal);
  EXPECT_TRUE(has(tune(words).out, "top_spec_idx: 1\n"));
  EXPECT_FALSE(has(sandbox_.read("out.csv"), "statistic"));
  std::vector<std::string> least = words;
  least.insert(least.end(), {"--statistic", "min"});
  const int runs = sandbox_.script_runs();
  const Result result = tune(least);
  EXPECT_EQ(sandbox_.script_runs(), runs) << "the journal has all figures";
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n")) << result.out;
  EXPECT_TRUE(has(result.out, "0.500000")) << result.out;
  EXPECT_TRUE(has(result.out, "\nmet (ms): min of a spec's launches\n")) << result.out;
  EXPECT_TRUE(has(sandbox_.read("out.csv"), "statistic\n"));
  EXPECT_TRUE(has(sandbox_.read("out.csv"), ",min\n"));
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "sweep_statistic: min\n")) << sandbox_.read("out.yaml");
  EXPECT_TRUE(has(sandbox_.tune({"show", "out.jsonl"}).out, "top_spec_idx: 0\n"));
  ASSERT_EQ(sandbox_.tune({"report", "out.jsonl", "-o", "page.html"}).code, 0);
  EXPECT_TRUE(has(sandbox_.read("page.html"), "\"statistic\":\"min\""));
  EXPECT_TRUE(has(sandbox_.read("page.html"), "\"place\":1,\"seconds\":0.0005,"));
  least.insert(least.end(), {"--outliers", "drop"});
  EXPECT_TRUE(has(tune(least).out, "\nmet (ms): min without outliers of a spec's launches\n"));
}

TEST_F(FirstUse, FilesForOtherToolsAndADiffNameTheStatistic) {
  sandbox_.write_script("{T: [1, 2]}");
  const auto run = [&](const std::string& prefix, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"bench.yaml",        "--tune",     "--no-finals",   "--output", prefix, "--t4",
                                      prefix + ".t4.json", "--kt-cache", prefix + ".json"};
    words.insert(words.end(), more.begin(), more.end());
    return tune(words);
  };
  ASSERT_EQ(run("old", {}).code, 0);
  ASSERT_EQ(run("new", {"--statistic", "mean", "--outliers", "drop"}).code, 0);
  for (const char* ending : {".t4.json", ".json"}) {
    EXPECT_FALSE(has(sandbox_.read(std::string("old") + ending), "statistic")) << ending;
    const std::string file = std::string("new") + ending;
    EXPECT_TRUE(has(sandbox_.read(file), "\"statistic\":")) << ending;
    EXPECT_TRUE(has(sandbox_.read(file), "\"mean without outliers\"")) << ending;
    const std::string warning =
        "warning: old.jsonl has the median of each spec's launches, and " + file + " has the mean without outliers";
    EXPECT_TRUE(has(sandbox_.tune({"diff", "--any-device", "old.jsonl", file}).out, warning)) << ending;
    EXPECT_FALSE(has(sandbox_.tune({"diff", "--any-device", file, file}).out, "warning: ")) << ending;
    ASSERT_EQ(sandbox_.tune({"convert", file, "back.csv"}).code, 0);
    EXPECT_TRUE(has(sandbox_.read("back.csv"), ",mean without outliers\n")) << ending;
  }
  ASSERT_EQ(sandbox_.tune({"convert", "new.jsonl", "of_journal.t4.json"}).code, 0);
  EXPECT_TRUE(has(sandbox_.read("of_journal.t4.json"), "\"mean without outliers\""));
  EXPECT_TRUE(has(sandbox_.tune({"diff", "old.csv", "new.csv"}).out, "warning: old.csv has the median of each"));
  EXPECT_TRUE(has(sandbox_.tune({"diff", "old.yaml", "new.yaml"}).out, "warning: old.yaml has the median of each"));
  EXPECT_FALSE(has(sandbox_.tune({"diff", "old.jsonl", "new.jsonl"}).out, "warning: ")) << "both have medians";
  EXPECT_TRUE(has(run("old", {"--statistic", "min"}).err,
                  "old.json: the times of the cache are of the statistic median, those of this run of min"));
}

}  // namespace
}  // namespace tune::cli::cli_first_use_test
