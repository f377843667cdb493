// What a new user meets who gives something that is nearly right: lists that do not fit, filters, commands without
// dashes, devices of another vendor, JSON without a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "support/cli.h"
#include "support/has.h"
#include "support/terminal.h"

namespace tune::cli::cli_first_contact_test {
namespace {

using Words = std::vector<std::string>;

class FirstContact : public testing::Test {
 protected:
  Result refused(const Words& words, const std::string& complaint) const {
    const Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_TRUE(has(result.err, "tune: error: " + complaint)) << result.err;
    return result;
  }
  /// What a terminal of so many columns shows; no line of it is longer than that, commands and long words excepted.
  std::string shown_on(unsigned short columns, const Words& words) {
    InTerminal run(sandbox_, words, columns);
    EXPECT_EQ(run.code(), 0) << run.text();
    const std::string text = std::regex_replace(without_escapes(run.text()), std::regex("\r"), "");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.size() <= columns || has(line, " tune --yaml ") || line.find(' ', 2) == line.npos) << line;
    return text;
  }
  /// A kernel for a GPU, which needs none to be listed.
  void write_gpu(const std::string& file) const {
    sandbox_.write(file, "extern \"C\" __global__ void k(float* c) { *c = S; }\n");
    sandbox_.write("k.yaml", "{name: k, file: " + file +
                                 ", kernel: k, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {S: [1, 2]}, "
                                 "launch: {grid: [1], block: [32], args: [C]}}\n");
  }

  Sandbox sandbox_;
};

constexpr const char* kWide =
    "{BLOCK_SIZE_M: [64, 128], BLOCK_SIZE_N: [64, 128], BLOCK_SIZE_K: [8, 16], STAGES: [1], LAYOUT: [rows], "
    "THREADS_PER_WARP: [1, 2]}";

TEST_F(FirstContact, ADryRunFitsTheTerminal) {
  sandbox_.write_script(kWide,
                        "constraints:\n  - BLOCK_SIZE_M * BLOCK_SIZE_N <= 8192  # the accumulators of a block "
                        "must fit into the registers that one multiprocessor has\n");
  const Words words = {"bench.yaml", "--dry-run"};
  EXPECT_TRUE(
      shown_on(120, words)
          .starts_with("        0 BLOCK_SIZE_M=64/BLOCK_SIZE_N=64/BLOCK_SIZE_K=8/THREADS_PER_WARP=1\n        1 "));
  const std::string at_60 = shown_on(60, words);
  EXPECT_TRUE(
      at_60.starts_with(" mesh_idx BLOCK_SIZE_M/BLOCK_SIZE_N/BLOCK_SIZE_K/THREADS_...\n"
                        "        0 64/64/8/1\n"))
      << at_60;
  EXPECT_TRUE(has(at_60, "\nin all specs: STAGES=1, LAYOUT=rows\n")) << at_60;
  EXPECT_TRUE(has(at_60, "\n      4  the accumulators of a block must fit into the\n         registers that")) << at_60;
  shown_on(20, words);
}

TEST_F(FirstContact, ADryRunNamesAllParametersOnlyElsewhere) {
  sandbox_.write_script("{T: [1, 2], U: [5], V: [x]}");
  EXPECT_EQ(sandbox_.tune({"bench.yaml", "--dry-run"}).out,
            "        0 T=1/U=5/V=x\n        1 T=2/U=5/V=x\nNumber of valid specs: 2\n");
  EXPECT_EQ(shown_on(80, {"bench.yaml", "--dry-run"}),
            "        0 T=1\n        1 T=2\nin all specs: U=5, V=x\nNumber of valid specs: 2\n"
            "2 specs; time unknown: the journal knows too few of them\n");
  EXPECT_EQ(shown_on(80, {"bench.yaml", "--dry-run", "--param", "T:7"}),
            "        0 bench\nin all specs: T=7, U=5, V=x\nNumber of valid specs: 1\n"
            "1 spec; time unknown: the journal knows too few of them\n");
}

TEST_F(FirstContact, TheTableOfBuildOnlyFitsTheTerminal) {
  sandbox_.write_gemm();
  const Words words = {"gemm.yaml", "--build-only", "--add-param", "LONG_NAME_OF_A_TILE:[1,2]", "--add-param", "X:3"};
  const std::string at_80 = shown_on(80, words);
  EXPECT_TRUE(std::regex_search(at_80, std::regex("\n mesh_idx +name +code +stack\n"
                                                  "        0 BM=1/LONG_NAME_OF_A_TILE=1 +[0-9]+ +[0-9]+\n")))
      << at_80;
  EXPECT_TRUE(has(at_80, "\nin all specs: X=3\n")) << at_80;
  EXPECT_TRUE(std::regex_search(shown_on(40, words), std::regex("\n mesh_idx BM/LONG_N[A-Z_]*\\.\\.\\. +code +stack\n"
                                                                "        0 +1/1 ")));
  EXPECT_TRUE(std::regex_search(shown_on(22, words), std::regex("\n mesh_idx BM/.* +code\n"))) << "stack leaves first";
}

TEST_F(FirstContact, WhatAFilterLeavesOutIsNotPruned) {
  sandbox_.write_script("{T: [1, 2, 3], U: [1, 2, 3]}", "constraints:\n  - T + U < 5  # too slow\n");
  const std::string all = sandbox_.tune({"bench.yaml", "--dry-run"}).out;
  EXPECT_TRUE(has(all, "pruned before the build: 3\n      3  too slow\n")) << all;
  const Words words = {"bench.yaml", "--filter", "T=3", "--filter", "T=1", "--output", "out"};
  Words dry = words;
  dry.push_back("--dry-run");
  EXPECT_TRUE(has(sandbox_.tune(dry).out, "pruned before the build: 2\n      2  too slow\nNumber of valid specs: 4\n"));
  EXPECT_TRUE(has(sandbox_.tune(words).out, "pruned before the build: 2\n"));
  const std::string csv = sandbox_.read("out.csv");
  EXPECT_TRUE(has(csv, "\n7,bench,pruned,3,2,")) << csv;
  EXPECT_FALSE(has(csv, "\n5,")) << "T=2 is filtered, and pruned too";
}

TEST_F(FirstContact, TheCsvOfALargeGridHasNoRowsOfWhatIsPruned) {
  sandbox_.write_script("{T: {range: [1, 400]}, U: {range: [1, 400]}}", "constraints: [T + U < 4]\n");
  EXPECT_TRUE(has(sandbox_.tune({"bench.yaml", "--output", "out"}).out, "pruned before the build: 159997\n"));
  const std::string csv = sandbox_.read("out.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4) << csv;  // the columns' names, and three specs
}

TEST_F(FirstContact, JsonWithoutATimeIsPointedOutOnce) {
  sandbox_.write("p.yaml", "{name: p, run: \"./p.sh {A}\", params: {A: [1, 2]}, measure: {max_seconds: 0.02}}\n");
  sandbox_.write("p.sh", "#!/bin/sh\necho begin\necho '{\"name\": \"x\", \"ms\": 3.5}'\n");
  std::filesystem::permissions(sandbox_.folder() / "p.sh", std::filesystem::perms::owner_all);
  const Words words = {"p.yaml"};
  const std::string warning =
      "warning: the whole command is timed, because it reported no time: the JSON on its standard output has neither "
      "'time' (seconds) nor 'met (ms)': {\"ms\":3.5,\"name\":\"x\"}; its numbers are columns\n";
  const std::string err = sandbox_.tune(words).err;
  EXPECT_TRUE(has(err, warning)) << err;
  EXPECT_EQ(err.find(warning), err.rfind(warning));
  EXPECT_EQ(sandbox_.tune({"p.yaml", "--fresh", "--quiet"}).err, warning);
  Words whole = words;
  whole.push_back("--whole");
  EXPECT_FALSE(has(sandbox_.tune(whole).err, "warning: "));
  sandbox_.write("p.sh", "#!/bin/sh\nprintf 'name,met (ms)\\nx,3.5\\n'\n");
  EXPECT_TRUE(has(sandbox_.tune(words).err, "it reported no time: CSV is read from the file that TUNE_RESULT names"));
  sandbox_.write("p.sh", "#!/bin/sh\nprintf 'time, please\\n'\n");
  EXPECT_FALSE(has(sandbox_.tune(words).err, "warning: the whole"));
}

TEST_F(FirstContact, ADeviceOfAnotherBackendIsRefused) {
  write_gpu("k.cu");
  refused({"k.yaml", "--dry-run", "--device-file", "mi300x"},
          "--device-file: AMD Instinct MI300X (gfx942) is no device for the cuda backend; those that are known for it "
          "are a100, h100, h200, rtx4090\n");
  refused({"k.yaml", "--dry-run", "--backend", "hip", "--device-file", "h100"},
          "--device-file: NVIDIA H100 80GB HBM3 (sm_90a) is no device for the hip backend; those that are known for it "
          "are mi250x, mi300x, mi355x\n");
  sandbox_.write("host.yaml", "name: host\ndriver: '1'\narch: x86_64\nproperties: {cores: 2}\n");
  refused({"k.yaml", "--dry-run", "--device-file", "host.yaml"}, "--device-file: host (x86_64) is no device for the ");
  sandbox_.write_gemm();
  for (const char* command : {"--dry-run", "--build-only"})
    refused({"gemm.yaml", command, "--device-file", "h200"},
            "--device-file: NVIDIA H200 (sm_90a) is no device for the cpu backend; give a file that tune --probe "
            "--backend cpu wrote\n");
  EXPECT_EQ(sandbox_.tune({"gemm.yaml", "--dry-run", "--device-file", "host.yaml"}).code, 0);
}

TEST_F(FirstContact, ADefaultIsNotMissedWhereTheConfigurationIsNamed) {
  sandbox_.write_gemm("default: {BM: 1}\n");
  sandbox_.write("results.yaml", "- {M: 16, N: 16, K: 16, BM: 4}\n- {M: 8, N: 16, K: 16, BM: 16}\n");
  for (const Words& words : {Words{"--shapes", "results.yaml"}, Words{"--config_str", "M16_N16_K16_BM8"}}) {
    Words all = {"gemm.yaml", "--dry-run"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_FALSE(has(sandbox_.tune(all).err, "default"));
    all.emplace_back("--quiet");
    EXPECT_FALSE(has(sandbox_.tune(all).err, "default"));
  }
  sandbox_.write_gemm("default: {BM: 3}\n");
  EXPECT_TRUE(
      has(sandbox_.tune({"gemm.yaml", "--dry-run"}).err, "default is no spec, and is not tried: BM is never 3"));
  EXPECT_TRUE(has(sandbox_.tune({"gemm.yaml", "--dry-run", "--quiet"}).err, "BM is never 3"));
  sandbox_.write("sizes.yaml", "- {M: 8, N: 16, K: 16}\n");
  EXPECT_TRUE(has(sandbox_.tune({"gemm.yaml", "--dry-run", "--shapes", "sizes.yaml"}).err, "BM is never 3"));
}

TEST_F(FirstContact, CompareSaysHowMuchItCompared) {
  sandbox_.write_gemm("",
                      "if (BM == 2) return; for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { float s = 0; "
                      "for (int p = 0; p < k; ++p) s += A[i * k + p] * B[p * n + j]; C[i * n + j] = s; }");
  const Result one = sandbox_.tune({"gemm.yaml", "--compare"});
  EXPECT_EQ(one.code, 3);
  EXPECT_TRUE(has(one.out, "\ncompared with the reference: 4 specs: 3 right, 1 wrong\n")) << one.out;
  sandbox_.write("results.yaml",
                 "- {M: 16, N: 16, K: 16, BM: 4}\n- {M: 8, N: 16, K: 16, BM: 2}\n- {M: 24, N: 16, K: 16, BM: 5}\n");
  sandbox_.write("gemm.yaml", sandbox_.read("gemm.yaml") + "constraints: [BM != 5]\n");
  const Result sizes = sandbox_.tune({"--gemm_size_file", "results.yaml", "--compare_wo_tuning"});
  EXPECT_EQ(sizes.code, 3);
  EXPECT_TRUE(has(sizes.out,
                  "\ncompared with the reference: 2 of 3 sizes: 1 right, 1 wrong; missing: 1 size (M=24 N=16 K=16 "
                  "BM=5); 2 specs: 1 right, 1 wrong\n"))
      << sizes.out << sizes.err;
}

TEST_F(FirstContact, FilesOfTheSameNameAreToldApart) {
  sandbox_.write_script("{T: [2, 1]}");
  for (const char* run : {"old/run", "new/run", "new/other"}) sandbox_.tune({"bench.yaml", "--output", run});
  sandbox_.tune({"report", "old/run.jsonl", "new/run.jsonl", "-o", "page.html"});
  const std::string page = sandbox_.read("page.html");
  EXPECT_TRUE(has(page, "\"file\":\"old/run.jsonl\""));
  EXPECT_TRUE(has(page, "\"file\":\"new/run.jsonl\""));
}

TEST_F(FirstContact, ACommandWithoutDashesIsShownWithThem) {
  const std::string refusal =
      "cat is a command and no tuning file; write commands behind --, and {NAME} in the place of each value to tune: ";
  refused({"cat", "-3"}, refusal + "tune --tune --param 'NAME:[1,2]' -- cat -3\n");
  refused({"--tune", "cat", "-3", "-k", "-c", "file"},
          refusal + "tune --tune --param 'NAME:[1,2]' -- cat -3 -k -c file\n");
  refused({"--param", "L:[1,2]", "cat", "-{L}"}, refusal + "tune --tune --param 'L:[1,2]' -- cat '-{L}'\n");
  refused({"--output", "cat", "cat", "-3"}, refusal + "tune --tune --output cat --param 'NAME:[1,2]' -- cat -3\n");
  refused({"cat", "-{L}", "--add-param", "L:[1,2]", "--tune", "-k"},
          refusal + "tune --add-param 'L:[1,2]' --tune -- cat '-{L}' -k\n");
  refused({"cat", "--param", "max=50", "--params", "x:y", "--dry-run"},
          refusal + "tune --tune --param 'NAME:[1,2]' -- cat --param max=50 --params x:y --dry-run\n");
  EXPECT_EQ(sandbox_.tune({"--dry-run", "--param", "L:[1,2]", "--", "cat", "-{L}"}).code, 0);
  refused({"diff", "old"}, "NEW is required; see tune diff --help");
  sandbox_.write("cat.yaml", "");
  refused({"cat"}, "cat: there is no such file, did you mean 'cat.yaml'?");
  for (const Words& words : {Words{"simulate-bench"}, Words{"simulate-bench", "run.jsonl", "--seeds", "3"},
                             Words{"simulate-bench", "--help"}})
    refused(words,
            "simulate-bench is no command of tune any more; the program bench_search of tune's sources "
            "compares strategies, see tests/bench/README.md there\n");
  for (const Words& words : {Words{"pakage", "best.yaml"}, Words{"pakage", "best.yaml", "-o", "out"}})
    refused(words, "pakage is no command of tune, did you mean 'package'?\n");
  refused({"inti", "kernel.cpp"}, "inti is no command of tune, did you mean 'init'?\n");
  refused({"help"}, "help: there is neither a file nor a command of tune of this name; see tune --help\n");
  refused({"gone.yaml"}, "gone.yaml: there is no such file; tune init SOURCE writes one for a kernel\n");
  refused({"lookup"}, "--db is required; see tune lookup --help\n");
}

}  // namespace
}  // namespace tune::cli::cli_first_contact_test
