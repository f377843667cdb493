// The CUDA worker without a GPU: tune and the worker are real, and the driver is that of fake_cuda.cpp, which has the
// kernels. Skipped where the worker or its run-time compiler is absent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_gpu_worker_test {
namespace {

namespace fs = std::filesystem;

class GpuWorker : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(TUNE_BIN_DIR) / "tune-worker-cuda")) GTEST_SKIP() << "tune-worker-cuda was not built";
    const char* before = std::getenv("LD_LIBRARY_PATH");
    sandbox_.environment["LD_LIBRARY_PATH"] = TUNE_FAKE_LIBRARIES + (before ? ":" + std::string(before) : "");
    sandbox_.environment["FAKE_CARD"] = (sandbox_.folder() / "card").string();
  }

  /// Runs over the specs of P with this kernel, whose code is the driver's.
  Result tune(const std::string& kernel, const std::string& values, const std::vector<std::string>& options = {},
              const std::string& epilogue = "") {
    sandbox_.write("gemm.cu", "extern \"C\" __global__ void " + kernel +
                                  "(const float* A, const float* B, float* C, int m, int n, int k" +
                                  (epilogue.empty() ? "" : ", const float* residual") + ") { C[0] = P; }\n");
    sandbox_.write(
        "gemm.yaml",
        "{name: " + kernel + ", file: gemm.cu, kernel: " + kernel + ", problem: {gemm: {m: 16, n: 24, k: 256" +
            (epilogue.empty() ? "" : ", residual: true, epilogue: " + epilogue) +
            "}}, build: {defines: [epilogue]}, params: {P: " + values + "},\nmeasure: {max_seconds: " + seconds_ +
            "}, launch: {grid: [1], block: [16],\n"
            "workspace: {bytes: 1001*(P - 1)}, args: [A, B, C, m, n, k, {optional: residual}]}}\n");
    std::vector<std::string> arguments = {"gemm.yaml", "--output", "of_" + kernel + epilogue};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return sandbox_.tune(arguments);
  }
  /// What becomes of a spec.
  std::string outcome(const std::string& kernel, const std::string& epilogue = "") {
    const Result result = tune(kernel, "[1]", {}, epilogue);
    const std::vector<wire::TrialRecord> trials = sandbox_.trials("of_" + kernel + epilogue + ".jsonl");
    return trials.empty() ? result.err : outcome_text(trials.front().trial);
  }

  std::string seconds_ = "0.1";
  Sandbox sandbox_;
};

// A launch misses the last of these kernels if its inputs begin otherwise than those before: if they are rotated (one
// of four), or if a sign is turned in the first of the 256 rows of B. The first wrong one ends a run, whatever its
// limit.
TEST_F(GpuWorker, AnotherLayoutOfBServesNoSecondLaunch) {
  const std::string honest = outcome("gemm");
  if (has(honest, "no run-time compiler")) GTEST_SKIP() << honest;
  EXPECT_EQ(honest, "measured");
  seconds_ = "5";
  EXPECT_EQ(outcome("gemm_of_first_b"), "check, reported: wrong result in C");
  EXPECT_EQ(outcome("gemm_of_b_at"), "check, reported: wrong result in C");
  EXPECT_EQ(outcome("gemm_of_b_that_begins"), "check, reported: wrong result in C");
}

TEST_F(GpuWorker, WhatALaunchMayNotChangeIsVerified) {
  const std::string honest = outcome("gemm");
  if (has(honest, "no run-time compiler")) GTEST_SKIP() << honest;
  EXPECT_EQ(outcome("gemm_into_a"), "check, reported: input A was overwritten at element 0");
  const std::string original = outcome("gemm_into_original_of_a"), reference = outcome("gemm_into_reference");
  EXPECT_TRUE(has(original, "check, reported: input A was overwritten")) << original;
  EXPECT_TRUE(has(reference, "check, reported: the kernel wrote into the reference")) << reference;
}

// The device compares, with rows and columns rotated and signs turned.
TEST_F(GpuWorker, EpiloguesAreComparedOnTheDevice) {
  const std::string honest = outcome("gemm_silu", "silu");
  if (has(honest, "no run-time compiler")) GTEST_SKIP() << honest;
  EXPECT_EQ(honest, "measured");
  EXPECT_EQ(outcome("gemm_swiglu", "swiglu"), "measured");
  EXPECT_EQ(outcome("gemm_relu", "relu"), "measured");
  EXPECT_EQ(outcome("gemm_relu", "silu"), "check, reported: wrong result in C");
  EXPECT_EQ(outcome("gemm_silu", "gelu_tanh"), "check, reported: wrong result in C");
  EXPECT_EQ(outcome("gemm_silu_of_all", "silu"), "check, reported: wrong result in C");
  EXPECT_EQ(outcome("gemm_swiglu_exchanged", "swiglu"), "check, reported: wrong result in C");
}

// As before, and signs are turned of elements that have scales.
TEST_F(GpuWorker, ScalesAreComparedOnTheDevice) {
  const auto outcome = [&](const std::string& kernel) {
    sandbox_.write("gemm.cu", "extern \"C\" __global__ void " + kernel +
                                  "(const unsigned char* A, const unsigned char* B, float* C, int m, int n, int k, "
                                  "const float* a, int ld_a, const float* b, int ld_b) { C[0] = P; }\n");
    sandbox_.write("gemm.yaml",
                   "{name: " + kernel + ", file: gemm.cu, kernel: " + kernel +
                       ", problem: {gemm: {m: 16, n: 256, k: 256, a: e4m3, c: f32, layout: {b: col}, scale_a: 1x128, "
                       "scale_b: 128x128}}, params: {P: 1},\nmeasure: {max_seconds: 0.1}, launch: {grid: [1], block: "
                       "[16], args: [A, B, C, m, n, k, scale_a, ld_scale_a, scale_b, ld_scale_b]}}\n");
    const Result result = sandbox_.tune({"gemm.yaml", "--output", kernel});
    const std::vector<wire::TrialRecord> trials = sandbox_.trials(kernel + ".jsonl");
    return trials.empty() ? result.err : outcome_text(trials.front().trial);
  };
  const std::string honest = outcome("gemm_scaled");
  if (has(honest, "no run-time compiler")) GTEST_SKIP() << honest;
  EXPECT_EQ(honest, "measured");
  EXPECT_EQ(outcome("gemm_scaled_in_tiles"), "check, reported: wrong result in C");
}

// Rows are rotated within their group, and each has the norms and the turned signs of its own B.
TEST_F(GpuWorker, GroupsAreComparedOnTheDevice) {
  const auto outcome = [&](const std::string& kernel) {
    sandbox_.write("gemm.cu", "extern \"C\" __global__ void " + kernel +
                                  "(const float* A, const float* B, float* C, int m, int n, int k, const int* offsets, "
                                  "int groups) { C[0] = P; }\n");
    sandbox_.write("gemm.yaml",
                   "{name: " + kernel + ", file: gemm.cu, kernel: " + kernel +
                       ", problem: {gemm: {n: 24, k: 16, layout: {b: col}, groups: [0, 5, 1, 0, 30, 0]}}, params: {P: "
                       "1},\nmeasure: {max_seconds: 0.1}, launch: {grid: [1], block: [16], args: [A, B, C, m, n, k, "
                       "group_offsets, groups]}}\n");
    const Result result = sandbox_.tune({"gemm.yaml", "--output", kernel});
    const std::vector<wire::TrialRecord> trials = sandbox_.trials(kernel + ".jsonl");
    return trials.empty() ? result.err : outcome_text(trials.front().trial);
  };
  const std::string honest = outcome("gemm_grouped");
  if (has(honest, "no run-time compiler")) GTEST_SKIP() << honest;
  EXPECT_EQ(honest, "measured");
  EXPECT_EQ(outcome("gemm_grouped_in_tiles"), "check, reported: wrong result in C");
}

// One process for each spec of the sweep, and one for the finals.
TEST_F(GpuWorker, FinalistsShareAProcess) {
  const Result result = tune("gemm", "[1, 2, 3, 4, 5, 6, 7, 8]", {"--tune", "--finalists", "8", "--verbose"});
  if (has(result.err, "no run-time compiler")) GTEST_SKIP() << result.err;
  ASSERT_EQ(result.code, 0) << result.err << result.out;
  std::size_t started = 0;
  const std::string start = " measure: started";
  for (auto at = result.err.find(start); at != std::string::npos; at = result.err.find(start, at + 1)) ++started;
  EXPECT_EQ(started, 9u) << result.err;
  EXPECT_FALSE(has(result.out, "failed")) << result.out;
}

TEST_F(GpuWorker, TheFirstSizeIsTunedWhileKernelsOfAllSizesAreBuilt) {
  sandbox_.write("shapes.yaml", "- {M: 16, N: 24, K: 16}\n- {M: 16, N: 32, K: 16}\n");
  const Words options = {"--shapes", "shapes.yaml", "--max-evals", "8", "--jobs", "1", "--verbose"};
  const Result result = tune("gemm", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", options);
  if (has(result.err, "no run-time compiler")) GTEST_SKIP() << result.err;
  ASSERT_EQ(result.code, 0) << result.err << result.out;
  const std::string since = result.err.substr(std::min(result.err.find(" reference: started"), result.err.size()));
  int builds = 0;
  for (auto at = since.find(" build: started"); at != since.npos; at = since.find(" build: started", at + 1)) ++builds;
  EXPECT_GT(builds, 2) << "of the ten, two are not asked for ahead\n" << result.err;
}

// Where each turn had to wake the device, each would have a launch that is not timed. Some may, on a busy machine.
TEST_F(GpuWorker, ADeviceThatVerifiesTheLastTurnIsAwakeForTheNext) {
  sandbox_.environment["FAKE_LARGE"] = "yes";
  sandbox_.environment["FAKE_LAUNCHES"] = (sandbox_.folder() / "launches").string();
  sandbox_.write("shapes.yaml", "- {M: 16, N: 24, K: 16}\n");  // whose finals are held in one process and state
  // Launches: of each spec before its first turn, where the device may be awake already; of a turn of kernels that take
  // 1 ms.
  constexpr int kSpecs = 8, kLeastChecked = 2, kChecked = 3, kTimed = 1;
  const Result result = tune("gemm", "[1, 2, 3, 4, 5, 6, 7, 8]",
                             {"--tune", "--finalists", "8", "--shapes", "shapes.yaml", "--finals-budget", "10s"});
  if (has(result.err, "no run-time compiler")) GTEST_SKIP() << result.err;
  ASSERT_EQ(result.code, 0) << result.err << result.out;
  int turns = 0, most = 0;
  const std::string journal = sandbox_.read("of_gemm.jsonl"), key = "\"launches\":";
  const std::string finals = journal.substr(journal.find("\"finalists\""));
  const std::string line = finals.substr(0, finals.find('\n'));
  for (auto at = line.find(key); at != std::string::npos; at = line.find(key, at + 1)) {
    const int launches = std::atoi(line.c_str() + at + key.size());
    most = std::max(most, launches);
    turns += launches / kTimed;
  }
  const std::size_t rounds = result.out.find(" rounds of finals");
  ASSERT_NE(rounds, std::string::npos) << result.out;
  EXPECT_EQ(most, kTimed * std::atoi(result.out.c_str() + result.out.rfind(' ', rounds - 1)));
  std::istringstream launches(sandbox_.read("launches"));
  std::map<std::string, int> of_process;
  for (std::string process; std::getline(launches, process);) ++of_process[process];
  int in_finals = 0;
  for (const auto& [process, count] : of_process) in_finals = std::max(in_finals, count);
  EXPECT_GE(in_finals, kSpecs * kLeastChecked + kTimed * turns);
  EXPECT_LT(in_finals, kSpecs * kChecked + (kTimed + 1) * turns - kSpecs) << turns << " turns";
}

}  // namespace
}  // namespace tune::cli::cli_gpu_worker_test
