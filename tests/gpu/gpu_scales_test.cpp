// Products of fp8 matrices with scales on a real GPU: a right kernel and the vendor's library agree with the reference,
// and mistakes are found. Skipped where there is no device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/cli.h"

namespace tune::cli::gpu_scales_test {
namespace {

// What it does with `mutant`: 0 all right, 1 takes A's scale of the next row, 2 that of the first block of k always, 3
// does not switch B's scale within 192 columns, 4 leaves the last 16 of k unscaled.
constexpr const char* kKernel = R"(
#include "operands.h"
extern "C" __global__ void gemm(const unsigned char* a, const unsigned char* b, Result* c, int m, int n, int k,
                                const float* scale_a, int ld_scale_a, const float* scale_b, int ld_scale_b,
                                int mutant) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= m || j >= n) return;
  const OperandA left = {a, k, scale_a, ld_scale_a};
  const OperandB right = {b, k, scale_b, ld_scale_b};
  const int row = mutant == 1 ? (i + 1) % m : i, col = mutant == 3 ? j / 192 * 192 : j;
  float sum = 0;
  for (int p = 0; p < k; p += 4) {
    const bool bare = mutant == 4 && p >= k - 16;
    const float of_a = bare ? 0x1p120F : left.factor(row, mutant == 2 ? 0 : p);
    const float of_b = bare ? 0x1p120F : right.factor(col, p);
    for (int q = p; q < p + 4 && q < k; ++q)
      sum += (of_a * left.unscaled(a[i * static_cast<long long>(k) + q])) *
             (of_b * right.unscaled(b[j * static_cast<long long>(k) + q]));
  }
  c[i * static_cast<long long>(n) + j] = result(sum);
}
)";

class GpuScales : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.environment.erase("TUNE_LOCKS");  // those that run beside each other take turns
    const Result probe = sandbox_.tune({"--probe", "--backend", "cuda"});
    if (probe.code != 0) GTEST_SKIP() << "no CUDA device: " << probe.err;
  }

  /// Tunes the kernel of the repository with these entries of the problem.
  Result tune_demo(const std::vector<std::string>& problem, int m, int n, int k, const std::string& output) {
    std::vector<std::string> arguments = {TUNE_SOURCE_DIR "/configs/gemm_scaled.yaml",
                                          "--tune",
                                          "--keep-going",
                                          "--max-evals",
                                          "3",
                                          "-m",
                                          std::to_string(m),
                                          "-n",
                                          std::to_string(n),
                                          "-k",
                                          std::to_string(k),
                                          "--output",
                                          output};
    for (const std::string& entry : problem) arguments.insert(arguments.end(), {"--problem", entry});
    Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, 0) << result.err << result.out;
    for (const wire::TrialRecord& record : sandbox_.trials(output + ".jsonl"))
      EXPECT_EQ(outcome_text(record.trial), "measured") << output;
    return result;
  }

  Sandbox sandbox_;
};

TEST_F(GpuScales, TheVendorsLibraryAgreesWithOurReference) {
  int run = 0;
  for (const auto& [a, b] : {std::pair("tensor", "tensor"),
                             {"row", "col"},
                             {"1x128", "128x128"},
                             {"128x128", "1x128"},
                             {"1x128", "1x128"}}) {
    const Result result = tune_demo({std::string("scale_a=") + a, std::string("scale_b=") + b}, 64, 512, 1024,
                                    "vendor" + std::to_string(run++));
    EXPECT_NE(result.out.find("x vendor best"), std::string::npos) << a << " by " << b << result.out;
  }
}

TEST_F(GpuScales, WhatTheVendorsLibraryLacksIsANote) {
  const Result result = tune_demo({"scale_a=128x128", "scale_b=128x128"}, 128, 256, 256, "blocks");
  EXPECT_NE(result.out.find("note: baseline vendor: cuBLASLt has no e4m3 x e4m3 -> bf16 GEMM"), std::string::npos)
      << result.out;
}

TEST_F(GpuScales, TheKernelIsRightAtSizesThatNoBlockFits) {
  tune_demo({"scale_a=1x128", "scale_b=128x128"}, 37, 300, 400, "odd");
  tune_demo({"scale_a=row", "scale_b=col", "a=e5m2", "c=f32"}, 5, 131, 257, "rows");
}

TEST_F(GpuScales, EveryMistakeIsFound) {
  sandbox_.write("gemm.cu", kKernel);
  sandbox_.write("gemm.yaml",
                 "name: gemm\nfile: gemm.cu\nkernel: gemm\nparams: {$MUTANT: [0, 1, 2, 3, 4]}\n"
                 "problem: {gemm: {m: 40, n: 300, k: 400, a: e4m3, layout: {b: col}, scale_a: 1x128, "
                 "scale_b: 128x128}}\nmeasure: {max_seconds: 0.01, cutoff: 0}\n"
                 "launch: {grid: ['ceil_div(n, 16)', 'ceil_div(m, 16)'], block: [16, 16],\n"
                 "  args: [A, B, C, m, n, k, scale_a, ld_scale_a, scale_b, ld_scale_b, MUTANT]}\n"
                 "build: {include: [" TUNE_SOURCE_DIR "/demo], defines: [type_a, type_b, type_c, scale_a, scale_b]}\n");
  sandbox_.tune({"gemm.yaml", "--keep-going", "--output", "out"});
  const auto trials = sandbox_.trials("out.jsonl");
  EXPECT_EQ(trials.size(), 5U);
  for (const wire::TrialRecord& record : trials)
    EXPECT_EQ(outcome_text(record.trial),
              record.trial.spec.mesh_idx == 0 ? "measured" : "check, reported: wrong result in C")
        << record.trial.spec.mesh_idx;
}

}  // namespace
}  // namespace tune::cli::gpu_scales_test
