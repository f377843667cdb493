// How a real GPU is measured: clocks, power, energy, very short kernels. Skipped where there is no device.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "support/cli.h"

namespace tune::cli::gpu_measure_test {
namespace {

class GpuMeasure : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.environment.erase("TUNE_LOCKS");  // those that run beside each other take turns
    const Result probe = sandbox_.tune({"--probe", "--backend", "cuda"});
    if (probe.code != 0) GTEST_SKIP() << "no CUDA device: " << probe.err;
    has_counter_ = probe.out.find("energy_counter: 1") != std::string::npos;
    sandbox_.write("gemm.cu", R"(
__device__ bool was_done;  // a launch has found its result in C
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  const int i = blockIdx.x, j = threadIdx.x;
  float sum = 0;
  for (int repeat = 0; repeat < REPEATS; ++repeat) {
    sum = 0;
    for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
    asm volatile("" : "+f"(sum));
  }
#ifdef ADD
  sum += C[i * n + j];
#endif
#ifdef FAILS_IF_DONE
  if (C[i * n + j] == sum) was_done = true;
  if (was_done) sum = -1;
#endif
  C[i * n + j] = sum;
}
)");
  }

  /// Tunes this file and makes a package of its winner, `pack`.
  void expect_packed(const std::string& file) const {
    const Result tuned = sandbox_.tune({file, "--tune", "--output", "best"});
    ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
    const Result packed = sandbox_.tune({"package", "best.yaml", "-o", "pack"});
    ASSERT_EQ(packed.code, 0) << packed.err << packed.out;
  }
  /// That a command in the sandbox, which writes into `log` as well, ends with 0.
  void expect_done(const std::string& command) const {
    const std::string all = "cd '" + sandbox_.folder().string() + "' && " + command + " > said 2>&1";
    EXPECT_EQ(std::system(all.c_str()), 0) << sandbox_.read("log") << sandbox_.read("said");
  }

  /// All measured specs of a run.
  std::vector<Trial> tune(const std::string& keys, const std::vector<std::string>& options = {}, int beta = 0) {
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cu, kernel: gemm, problem: {gemm: {m: 256, n: 256, k: 16, beta: " +
                       std::to_string(beta) +
                       "}},\n"
                       "launch: {grid: [256], block: [256], args: [A, B, C, m, n, k]}, " +
                       keys + "}\n");
    name_ = "out" + std::to_string(runs_++);
    std::vector<std::string> arguments = {"gemm.yaml", "--output", name_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    last_ = sandbox_.tune(arguments);
    EXPECT_EQ(last_.code, 0) << last_.err << last_.out;
    std::vector<Trial> trials;
    for (const wire::TrialRecord& record : sandbox_.trials(name_ + ".jsonl"))
      if (record.trial.measurement()) trials.push_back(record.trial);
    return trials;
  }

  Sandbox sandbox_;
  std::string name_;
  Result last_;
  bool has_counter_ = false;
  int runs_ = 0;
};

double metric(const Trial& trial, const char* name) {
  const auto& metrics = trial.measurement()->metrics;
  const auto found = metrics.find(name);
  return found == metrics.end() ? std::nan("") : found->second;
}

TEST_F(GpuMeasure, RecordsCarryClockPowerAndTemperature) {
  const auto trials = tune("params: {REPEATS: [1, 100]}");
  ASSERT_EQ(trials.size(), 2u);
  if (std::isnan(metric(trials[0], "clock_mhz"))) GTEST_SKIP() << "NVML tells nothing here";
  for (const Trial& trial : trials) {
    EXPECT_GT(metric(trial, "clock_mhz"), 0);
    EXPECT_GT(metric(trial, "memory_clock_mhz"), 0);
    EXPECT_GT(metric(trial, "power_w"), 0);
    EXPECT_GT(metric(trial, "temperature_c"), 0);
    EXPECT_GE(metric(trial, "throttle"), 0);
  }
  EXPECT_NE(sandbox_.read(name_ + ".csv").find(",clock_mhz,"), std::string::npos);
  EXPECT_EQ(last_.out.find("clock_mhz"), std::string::npos) << "the table is for what differs";
}

TEST_F(GpuMeasure, AShortKernelIsFasterInAWarmCache) {
  const auto cold = tune("params: {REPEATS: 1}"), warm = tune("params: {REPEATS: 1}, measure: {cold_cache: false}");
  ASSERT_TRUE(cold.size() == 1 && warm.size() == 1);
  EXPECT_LT(warm[0].measurement()->timing.median, cold[0].measurement()->timing.median);
  std::cout << "a product of 256 x 256 x 16: " << cold[0].measurement()->timing.median * 1e6 << " us cold, "
            << warm[0].measurement()->timing.median * 1e6 << " us warm\n";
}

TEST_F(GpuMeasure, TheMostFrugalSpecWins) {
  if (!has_counter_) GTEST_SKIP() << "the device has no energy counter";
  const auto trials = tune(
      "params: {REPEATS: [1, 40, 1000]}, objective: gflops_per_watt,\n"
      "metrics: {eff: {expr: flops/energy/1e9, maximize: true}}",
      {"--tune"});
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_NE(last_.out.find("\nparams:\n  REPEATS: 1\n"), std::string::npos) << last_.out;
  EXPECT_NE(last_.out.find("Efficiency (GFLOPS/W)"), std::string::npos) << last_.out;
  EXPECT_NE(sandbox_.read(name_ + ".yaml").find("eff"), std::string::npos);
  for (const Trial& trial : trials)
    EXPECT_TRUE(metric(trial, "energy") > 0 || trial.measurement()->timing.stopped_early) << outcome_text(trial);
}

TEST_F(GpuMeasure, LaunchesOfALoadFindNoResultOfTheOneBefore) {
  const auto trials = tune("params: {REPEATS: [1, 200], FAILS_IF_DONE: 1}, measure: {state: sustained}",
                           {"--tune", "--finals-budget", "10s"});
  ASSERT_EQ(trials.size(), 2u) << last_.out;
  EXPECT_EQ((last_.out + last_.err).find("are wrong"), std::string::npos) << last_.out << last_.err;
  EXPECT_NE(last_.out.find("  burst ms  "), std::string::npos) << last_.out;
}

// What earlier launches wrote must not be in the caches, or a kernel that writes much would seem slower than it was.
TEST_F(GpuMeasure, ThePackageOfAKernelThatWritesMuchIsAsFastAsItWas) {
  sandbox_.write("copy.cu", R"(
extern "C" __global__ void copy(const float4* from, float4* to) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  to[i] = from[i];
}
)");
  sandbox_.write("copy.yaml",
                 "{name: copy, file: copy.cu, kernel: copy, launch: {grid: [16384], block: [256], args: [from, to]},\n"
                 "params: {SAME: [0]}, problem: {custom: {sizes: {pieces: 4194304}, reference: {spec: {SAME: 0}},\n"
                 "buffers: [{name: from, type: f32, count: 4*pieces, init: uniform, role: in},\n"
                 "{name: to, type: f32, count: 4*pieces, role: out}]}}}\n");
  expect_packed("copy.yaml");
  expect_done("{ cmake -S pack -B pack/build && cmake --build pack/build; } > log 2>&1 && pack/build/bench");
}

TEST_F(GpuMeasure, PyTorchMultipliesWithAPackage) {
  if (std::system("python3 -c 'import torch' > /dev/null 2>&1") != 0) GTEST_SKIP() << "torch is not installed";
  sandbox_.write("plain.cu", R"(
extern "C" __global__ void plain(const float* A, const float* B, float* C, int m, int n, int k, int lda, int ldb,
                                 int ldc) {
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += A[row * lda + i] * B[column * ldb + i];
  C[row * ldc + column] = sum;
}
)");
  sandbox_.write("plain.yaml",
                 "{name: plain, file: plain.cu, kernel: plain, params: {TILE: [16]},\n"
                 "problem: {gemm: {m: 64, n: 64, k: 64, a: f32, b: f32, c: f32, layout: {b: col}}},\n"
                 "launch: {grid: [\"ceil_div(n, TILE)\", \"ceil_div(m, TILE)\"], block: [TILE, TILE],\n"
                 "args: [A, B, C, m, n, k, lda, ldb, ldc]}}\n");
  expect_packed("plain.yaml");
  sandbox_.write("use.py", R"(
import torch, tuned_pack as tuned
a, b = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda")
near = dict(rtol=1e-2, atol=1e-2)
assert tuned.why(a, b) == "", tuned.why(a, b)
torch.testing.assert_close(tuned.matmul(a, b), a @ b.T, **near)
for other in ((a[:, :32], b), (a, b.cpu())):
    assert tuned.why(*other)
    try:
        tuned.matmul(*other)
    except RuntimeError:
        continue
    raise SystemExit(f"multiplied {other[0].shape} by {other[1].shape}")
torch.testing.assert_close(tuned.matmul(a.double(), b.double()), (a.double() @ b.double().T).float(), **near)
compiled = torch.compile(lambda x, y: tuned.matmul(x, y) + 1, fullgraph=True)
torch.testing.assert_close(compiled(a, b), a @ b.T + 1, **near)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    c = tuned.matmul(a, b)
a.copy_(torch.randn_like(a))
graph.replay()
torch.testing.assert_close(c, a @ b.T, **near)
)");
  expect_done(
      "{ cmake -S pack -B pack/build && cmake --build pack/build --target tuned_pack_shared; } > log 2>&1 && "
      "PYTHONPATH=pack/build/python python3 use.py");
}

TEST_F(GpuMeasure, WhyTheFinalsTellNoEnergyIsANote) {
  const auto trials =
      tune("params: {REPEATS: [1, 2], ADD: 1}, metrics: {joules: {expr: energy, minimize: true}}", {"--tune"}, 1);
  ASSERT_EQ(trials.size(), 2u);
  const std::string note = "note: energy is not measured: it takes launches without a pause, ";
  const auto said = last_.out.find(note);
  EXPECT_NE(said, std::string::npos) << last_.out;
  EXPECT_EQ(last_.out.find(note, said + 1), std::string::npos) << "of all finalists once";
}

TEST_F(GpuMeasure, EnergyThatIsOnlyShownIsMeasuredInTheFinals) {
  if (!has_counter_) GTEST_SKIP() << "the device has no energy counter";
  const auto trials = tune("params: {REPEATS: [1, 2]}, metrics: {joules: {expr: energy, minimize: true}}", {"--tune"});
  ASSERT_EQ(trials.size(), 2u);
  for (const Trial& trial : trials) EXPECT_TRUE(std::isnan(metric(trial, "energy")));
  EXPECT_NE(last_.out.find("joules"), std::string::npos);
  EXPECT_NE(sandbox_.read(name_ + ".jsonl").find("\"energy\""), std::string::npos);
}

}  // namespace
}  // namespace tune::cli::gpu_measure_test
