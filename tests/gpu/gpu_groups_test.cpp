// Groups of rows on a real GPU: a right kernel and the vendor's library agree with the reference, and mistakes are
// found. Skipped where there is no device.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/cli.h"

namespace tune::cli::gpu_groups_test {
namespace {

// What it does with `mutant`: 0 all right, 1 takes the next matrix, 2 one matrix for a tile of 16 rows, 3 leaves each
// group's last row, 4 stores 16 rows whatever the group has, 5 writes the offsets.
constexpr const char* kKernel = R"(
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k, int* offsets, int groups,
                                int mutant) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (mutant == 5 && i == 0 && j == 0) offsets[0] = 1;
  if (i >= m || j >= n) return;
  const int row = mutant == 2 ? i / 16 * 16 : i;
  int group = 0;
  while (offsets[group + 1] <= row) ++group;
  if (mutant == 3 && i == offsets[group + 1] - 1) return;
  const float* with = b + (mutant == 1 ? (group + 1) % groups : group) * static_cast<long long>(n) * k;
  for (int to = i; to == i || (mutant == 4 && i == offsets[group + 1] - 1 && to < m && to < i + 4); ++to) {
    if (to > i) __nanosleep(200000);
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += a[to * static_cast<long long>(k) + p] * with[j * static_cast<long long>(k) + p];
    c[to * static_cast<long long>(n) + j] = sum;
  }
}
)";

class GpuGroups : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.environment.erase("TUNE_LOCKS");  // those that run beside each other take turns
    const Result probe = sandbox_.tune({"--probe", "--backend", "cuda"});
    if (probe.code != 0) GTEST_SKIP() << "no CUDA device: " << probe.err;
  }

  /// Tunes a kernel of the repository with these options.
  Result tune_demo(std::vector<std::string> options, const std::string& output,
                   const std::string& file = "gemm_grouped") {
    options.insert(options.begin(), {TUNE_SOURCE_DIR "/configs/" + file + ".yaml", "--tune", "--keep-going",
                                     "--max-evals", "3", "--output", output});
    Result result = sandbox_.tune(options);
    if (file != "gemm_grouped" && result.err.find("sm_90a") != std::string::npos) return result;  // another chip
    EXPECT_EQ(result.code, 0) << result.err << result.out;
    for (const wire::TrialRecord& record : sandbox_.trials(output + ".jsonl")) {
      const std::string outcome = outcome_text(record.trial);
      EXPECT_TRUE(outcome == "measured" || outcome == "pruned") << output << ' ' << outcome;
    }
    return result;
  }

  Sandbox sandbox_;
};

TEST_F(GpuGroups, TheVendorsLibraryAgreesWithOurReference) {
  const Result listed = tune_demo({"-n", "512", "-k", "1024"}, "listed");
  EXPECT_NE(listed.out.find("x vendor best"), std::string::npos) << listed.out;
  EXPECT_NE((listed.out + listed.err).find("a call for each of 8 groups"), std::string::npos) << listed.out;
  const Result drawn = tune_demo({"-m", "300", "-n", "256", "-k", "510", "--problem", "groups=64", "--problem",
                                  "routing=zipf 1.2", "--problem", "a=f32", "--problem", "b=f32", "--problem", "c=f32"},
                                 "drawn");
  EXPECT_NE(drawn.out.find("x vendor best"), std::string::npos) << drawn.out;
}

TEST_F(GpuGroups, TheKernelIsRightAtSizesThatNoTileFits) {
  tune_demo({"-m", "37", "-n", "131", "-k", "257", "--problem", "groups=5", "--problem", "routing=uniform"}, "odd");
  tune_demo({"-m", "3", "-n", "40", "-k", "64", "--problem", "groups=7"}, "few");
}

const std::vector<std::string> kScaled = {"--problem",     "a=e4m3",    "--problem",       "b=e4m3",    "--problem",
                                          "scale_a=1x128", "--problem", "scale_b=128x128", "--problem", "c=bf16"};

const std::vector<std::string> kScaledByLines = {"--problem",   "a=e4m3",    "--problem",   "b=e4m3",    "--problem",
                                                 "scale_a=row", "--problem", "scale_b=col", "--problem", "c=bf16"};

TEST_F(GpuGroups, TheKernelIsRightWithScalesAndWithRoomForMoreRows) {
  const std::vector<std::string> sizes = {"-m",  "300",       "-n",       "264",       "-k",
                                          "272", "--problem", "groups=7", "--problem", "routing=zipf 1"};
  std::vector<std::string> scaled = sizes, masked = sizes;
  scaled.insert(scaled.end(), kScaled.begin(), kScaled.end());
  masked.insert(masked.end(), {"--problem", "max_rows=300"});
  tune_demo(scaled, "scaled");
  tune_demo(masked, "masked");
  scaled.insert(scaled.end(), {"--problem", "max_rows=300"});
  tune_demo(scaled, "masked_scaled");
}

TEST_F(GpuGroups, TheKernelsForHopperAreRight) {
  int run = 0;
  for (const char* swap : {"SWAP:0", "SWAP:1"})
    for (const char* cluster : {"CLUSTER:1", "CLUSTER:2"})
      for (const char* store : {"EPILOGUE:direct", "EPILOGUE:tma"})
        for (const std::vector<std::string>& scales : {{}, kScaled, kScaledByLines}) {
          std::vector<std::string> options = {"-m",      "300",        "-n",       "264",       "-k",
                                              "272",     "--problem",  "groups=7", "--problem", "routing=zipf 1",
                                              "--param", swap,         "--param",  cluster,     "--param",
                                              store,     "--no-finals"};
          options.insert(options.end(), scales.begin(), scales.end());
          if (run % 4 == 0) options.insert(options.end(), {"--problem", "max_rows=300"});
          tune_demo(options, "hopper" + std::to_string(run++), "hopper_grouped");
        }
}

TEST_F(GpuGroups, PackagesOfGroupsWithRoomForMoreRowsTestThemselves) {
  for (const std::string file : {"gemm_grouped", "hopper_grouped"}) {
    const Result tuned = tune_demo({"-m", "300", "-n", "264", "-k", "272", "--problem", "groups=7", "--problem",
                                    "routing=zipf 1", "--problem", "max_rows=300", "--no-finals"},
                                   file, file);
    if (tuned.code != 0) continue;
    const Result packed = sandbox_.tune(
        {"package", file + ".yaml", "--yaml", TUNE_SOURCE_DIR "/configs/" + file + ".yaml", "-o", "of_" + file});
    ASSERT_EQ(packed.code, 0) << packed.err << packed.out;
    const std::string folder = "'" + sandbox_.folder().string() + "/of_" + file + "'";
    const int status = std::system(("cd " + folder +
                                    " && { cmake -S . -B build && cmake --build build; } > log 2>&1 && build/selftest "
                                    "> said 2>&1")
                                       .c_str());
    EXPECT_EQ(status, 0) << sandbox_.read("of_" + file + "/log") << sandbox_.read("of_" + file + "/said");
  }
}

/// The vendor's calls multiply the groups where they lie.
TEST_F(GpuGroups, TheVendorsLibraryMultipliesGroupsWithRoomForMoreRows) {
  const Result masked = tune_demo({"-m", "64", "-n", "256", "-k", "512", "--problem", "groups=4", "--problem",
                                   "routing=uniform", "--problem", "max_rows=64"},
                                  "vendor_masked");
  EXPECT_NE(masked.out.find("x vendor best"), std::string::npos) << masked.out;
}

TEST_F(GpuGroups, EveryMistakeIsFound) {
  sandbox_.write("gemm.cu", kKernel);
  sandbox_.write("gemm.yaml",
                 "name: gemm\nfile: gemm.cu\nkernel: gemm\nparams: {$MUTANT: [0, 1, 2, 3, 4, 5]}\n"
                 "problem: {gemm: {n: 40, k: 300, layout: {b: col}, groups: [0, 37, 1, 0, 64, 8, 90]}}\n"
                 "measure: {max_seconds: 0.01, cutoff: 0}\n"
                 "launch: {grid: ['ceil_div(n, 16)', 'ceil_div(m, 16)'], block: [16, 16],\n"
                 "  args: [A, B, C, m, n, k, group_offsets, groups, MUTANT]}\n");
  sandbox_.tune({"gemm.yaml", "--keep-going", "--output", "out"});
  const auto trials = sandbox_.trials("out.jsonl");
  const std::vector<std::string> outcomes = {"measured",
                                             "check, reported: wrong result in C",
                                             "check, reported: wrong result in C",
                                             "check, reported: C was not fully written",
                                             "check, reported: wrong result in C",
                                             "check, reported: input group_offsets was overwritten at element 0"};
  ASSERT_EQ(trials.size(), outcomes.size());
  for (const wire::TrialRecord& record : trials)
    EXPECT_EQ(outcome_text(record.trial), outcomes.at(static_cast<std::size_t>(record.trial.spec.mesh_idx)))
        << record.trial.spec.mesh_idx;
}

}  // namespace
}  // namespace tune::cli::gpu_groups_test
