// The HIP worker's own executable on an NVIDIA device, through the library of hip_on_cuda.cpp: what it launches, checks
// and times. Skipped where there is no such device.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli.h"

#ifndef TUNE_HIP_ON_CUDA
#define TUNE_HIP_ON_CUDA ""
#endif

namespace tune::cli {
namespace {

namespace fs = std::filesystem;

class GpuHip : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(TUNE_HIP_ON_CUDA)) GTEST_SKIP() << "no HIP over CUDA: it needs the headers of both";
    const Result probe = sandbox_.tune({"--probe", "--backend", "cuda"});
    if (probe.code != 0) GTEST_SKIP() << "no CUDA device: " << probe.err;
    sandbox_.environment["ROCM_PATH"] = TUNE_HIP_ON_CUDA;
  }

  /// A GEMM by one thread per element whose body ends in `end`, with BM [4, 8] rows to a block.
  void write(const std::string& end, const std::string& args = "A, B, C, n, k") const {
    sandbox_.write("k.hip",
                   "extern \"C\" __global__ void k(const float* a, const float* b, float* c, int n, int k) {\n"
                   "  const int i = blockIdx.y * BM + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;\n"
                   "  float sum = 0;\n"
                   "  for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];\n" +
                       end + "\n}\n");
    sandbox_.write("k.yaml",
                   "{name: k, file: k.hip, kernel: k, problem: {gemm: {m: 64, n: 64, k: 96}}, params: {BM: [4, 8]},\n"
                   "launch: {grid: [n // 32, m // BM], block: [32, BM], args: [" +
                       args + "]}}\n");
  }
  /// Of both specs.
  std::vector<std::string> outcomes() const {
    const Result result = sandbox_.tune({"k.yaml", "--quiet", "--output", "out"});
    std::vector<std::string> texts(2);
    for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
      texts.at(static_cast<std::size_t>(record.trial.spec.mesh_idx)) = outcome_text(record.trial);
    EXPECT_EQ(std::count(texts.begin(), texts.end(), ""), 0) << result.out << result.err;
    return texts;
  }

  Sandbox sandbox_;
};

TEST_F(GpuHip, TheDeviceIsNamedWithoutItsFeatures) {
  const Result probe = sandbox_.tune({"--probe", "--backend", "hip"});
  EXPECT_EQ(probe.code, 0) << probe.err;
  EXPECT_NE(probe.out.find("arch: gfx90a\n"), std::string::npos) << probe.out;
  EXPECT_NE(probe.out.find("driver: HIP 5.2.0\n"), std::string::npos) << probe.out;
}

TEST_F(GpuHip, TheDemoIsTunedEndToEnd) {
  const Result result =
      sandbox_.tune({TUNE_SOURCE_DIR "/configs/gemm_simt_hip.yaml", "-m", "512", "-n", "512", "-k", "512", "--tune",
                     "--filter", "UNROLL=4", "--filter", "BK=8", "--filter", "TM=8", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_NE(sandbox_.read("out.yaml").find("checked: yes"), std::string::npos) << sandbox_.read("out.yaml");
  EXPECT_EQ(result.out.find("failed"), std::string::npos) << result.out;
}

TEST_F(GpuHip, ARightKernelIsMeasured) {
  write("  c[i * n + j] = sum;");
  for (const std::string& outcome : outcomes()) EXPECT_EQ(outcome, "measured");
}

TEST_F(GpuHip, AWrongKernelIsNot) {
  write("  c[i * n + j] = BM == 4 && i == 63 && j == 1 ? -sum : sum;");
  const auto found = outcomes();
  EXPECT_EQ(found[0].find("check, reported: wrong result"), 0u) << found[0];
  EXPECT_EQ(found[1], "measured");
}

TEST_F(GpuHip, AFaultCostsItsOwnSpec) {
  write("  c[i * n + j + (BM == 4 ? 1ll << 40 : 0)] = sum;");
  const auto found = outcomes();
  EXPECT_NE(found[0].find("ILLEGAL_ADDRESS"), std::string::npos) << found[0];
  EXPECT_EQ(found[1], "measured");
}

TEST_F(GpuHip, ArgumentsAreComparedWithTheCodeObject) {
  write("  c[i * n + j] = sum;", "A, B, C, n, {i64: k}");
  for (const std::string& outcome : outcomes())
    EXPECT_EQ(outcome.find("load, reported: launch.args do not fit the parameters of kernel 'k'"), 0u) << outcome;
}

TEST_F(GpuHip, SharedMemoryBeyondTheDevicesIsRefused) {
  write("  c[i * n + j] = sum;");
  std::string yaml = sandbox_.read("k.yaml");
  sandbox_.write("k.yaml", yaml.replace(yaml.find("args:"), 0, "shared: 1000000, "));
  for (const std::string& outcome : outcomes())
    EXPECT_EQ(outcome.find("load, reported: a block of k needs 1000000 bytes of shared memory; the device allows "), 0u)
        << outcome;
}

}  // namespace
}  // namespace tune::cli
