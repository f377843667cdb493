// Energy and clocks of GPUs without a GPU: tune, the workers of both vendors and the process that sets the clocks are
// real; the driver and the management libraries are those of fake_card.h. Skipped where a worker or its run-time
// compiler is absent.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/cli.h"
#include "support/has.h"

#ifndef TUNE_HIP_ON_CUDA
#define TUNE_HIP_ON_CUDA ""
#endif

namespace tune::cli::cli_gpu_energy_test {
namespace {

namespace fs = std::filesystem;

class GpuEnergy : public testing::Test {
 protected:
  void SetUp() override {
    const char* before = std::getenv("LD_LIBRARY_PATH");
    sandbox_.environment["LD_LIBRARY_PATH"] = TUNE_FAKE_LIBRARIES + (before ? ":" + std::string(before) : "");
    sandbox_.environment["FAKE_CARD"] = (sandbox_.folder() / "card").string();
  }

  void write(const std::string& ending, const std::string& params) const {
    sandbox_.write("gemm" + ending,
                   R"(extern "C" __global__ void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + threadIdx.x];
    C[i * n + threadIdx.x] = sum;
  }
}
)");
    sandbox_.write("gemm.yaml", "{name: gemm, file: gemm" + ending +
                                    ", kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {" + params +
                                    "},\nlaunch: {grid: [1], block: [16], args: [A, B, C, m, n, k]}}\n");
  }
  Result run() const {
    return sandbox_.tune({"--yaml", "gemm.yaml", "--output", "out", "--tune", "--no-finals", "--objective", "energy"});
  }
  /// Of the spec with this index; the journal has them in the order in which they ended.
  Trial trial(std::int64_t mesh_idx) const {
    for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
      if (record.trial.spec.mesh_idx == mesh_idx) return record.trial;
    throw std::out_of_range("no such trial");
  }
  void expect_energy(std::int64_t mesh_idx, double clock, double watts) const {
    const Trial measured = trial(mesh_idx);
    ASSERT_EQ(outcome_text(measured), "measured");
    const std::map<std::string, double>& metrics = measured.measurement()->metrics;
    EXPECT_NEAR(metrics.at("clock_mhz"), clock, 0.01);
    EXPECT_DOUBLE_EQ(metrics.at("energy_clock_mhz"), clock);
    EXPECT_NEAR(measured.measurement()->timing.median, 1.98e-3 * 1000 / clock, 1e-6);
    EXPECT_GT(metrics.at("energy"), 0.9 * watts * measured.measurement()->timing.median);
  }

  Sandbox sandbox_;
};

TEST_F(GpuEnergy, TheCudaWorkerMeasuresTheEnergyAtEachClock) {
  if (!fs::exists(fs::path(TUNE_BIN_DIR) / "tune-worker-cuda")) GTEST_SKIP() << "tune-worker-cuda was not built";
  write(".cu", "$device.sm_clock: [990, 1980]");
  sandbox_.environment["FAKE_HOLDS"] = "1500";
  const Result result = run();
  if (has(result.err, "no run-time compiler")) GTEST_SKIP() << "no NVRTC: " << result.err;
  ASSERT_EQ(result.code, 0) << result.err << result.out;
  expect_energy(0, 990, 80 + 0.16 * 990);
  EXPECT_EQ(
      outcome_text(trial(1)),
      "measure, reported: the SM clock was set to 1980 MHz, but the samples ran at 1500 MHz, held back by the power "
      "limit");
  EXPECT_EQ(sandbox_.read("card"), "0 0 700000\n");
  EXPECT_TRUE(has(sandbox_.read("out.jsonl"), R"("energy_counter":1)"));
}

TEST_F(GpuEnergy, TheHipWorkerMeasuresTheEnergyAtEachClock) {
  if (!fs::exists(TUNE_HIP_ON_CUDA)) GTEST_SKIP() << "no HIP over CUDA: it needs the headers of both";
  sandbox_.environment["ROCM_PATH"] = TUNE_HIP_ON_CUDA;
  write(".hip", "$device.sm_clock: [500]");
  const Result result = run();
  ASSERT_EQ(result.code, 0) << result.err << result.out;
  expect_energy(0, 500, 80 + 0.16 * 500);
  EXPECT_EQ(sandbox_.read("card"), "0 0 700000\n");
  EXPECT_EQ(sandbox_.read("card.level"), "0\n");
}

}  // namespace
}  // namespace tune::cli::cli_gpu_energy_test
