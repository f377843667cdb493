// Kernels that go wrong on a real GPU: each ends in its row and hurts no other spec. Skipped where there is no device.
#include <gtest/gtest.h>

#include "support/has.h"
#include "support/kernel_cases.h"

namespace tune::cli::gpu_fault_test {
namespace {

const std::string kHead = R"(
__device__ int calls;
__device__ float saved[256];
__device__ const float* saved_for;
__device__ float saved_of;
__device__ float columns[256];  // B in another layout
extern "C" __global__ void gemm(float* A, const float* B, float* C, int m, int n, int k) {
  const int i = threadIdx.x / 16, j = threadIdx.x % 16, before = calls;
  __syncthreads();
  if (threadIdx.x == 0) ++calls;
  auto right = [&] {
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
    C[i * n + j] = sum;
  };
  auto right_of_columns = [&](bool are_there) {
    if (!are_there) columns[j * k + i] = B[i * n + j];
    __syncthreads();
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += A[i * k + p] * columns[j * k + p];
    C[i * n + j] = sum;
  };
  extern __shared__ float shared[];
)";

class GpuFaults : public KernelCases {
 protected:
  void SetUp() override {
    sandbox_.environment.erase("TUNE_LOCKS");  // those that run beside each other take turns
    const Result probe = sandbox_.tune({"--probe", "--backend", "cuda"});
    if (probe.code != 0) GTEST_SKIP() << "no CUDA device: " << probe.err;
  }

  /// Tunes a grid with one spec per case, and holds what was recorded against the cases.
  void tune_and_expect(const std::vector<Case>& cases, const std::string& launch = "grid: [1], block: [256]") const {
    std::string source = kHead;
    for (std::size_t i = 0; i < cases.size(); ++i)
      source += "#if SPEC == " + std::to_string(i) + "\n  " + cases[i].code + "\n#endif\n";
    sandbox_.write("gemm.cu", source + "}\n");
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cu, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                   "measure: {max_seconds: 0.01}, params: {SPEC: {range: [0, " +
                       std::to_string(cases.size() - 1) + "]}}, launch: {" + launch + ", args: [A, B, C, m, n, k]}}\n");
    for (const std::string isolation : {"spec", "device"}) {
      sandbox_.tune(
          {"gemm.yaml", "--output", isolation, "--timeout-run", "5", "--keep-going", "--isolation", isolation});
      expect_outcomes(cases, isolation + ".jsonl");
    }
  }

  /// What is said of a grid of one spec with this launch, none of which is left.
  std::string refusal(const std::string& launch) const {
    sandbox_.write("gemm.cu", kHead + "right();\n}\n");
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cu, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
                   "params: {SPEC: [0]}, launch: {" +
                       launch + ", args: [A, B, C, m, n, k]}}\n");
    const Result result = sandbox_.tune({"gemm.yaml"});
    EXPECT_EQ(result.code, 1) << result.out;
    return result.err;
  }
};

TEST_F(GpuFaults, AFaultOfTheDeviceIsOneRow) {
  tune_and_expect({
      {"right();", "measured"},
      {"C[1LL << 40] = 0;", "check, reported: an illegal memory access was encountered"},
      {"*reinterpret_cast<double*>(C + 1) = 0;", "check, reported: misaligned address"},
      {"assert(false);", "check, reported: device-side assert triggered"},
      {"asm(\"trap;\");", "check, reported: unspecified launch failure"},
      {"right(); for (volatile int x = 0;; ++x) {}", "check, timed out: no answer within 5 s"},
      {"right();", "measured"},
  });
}

TEST_F(GpuFaults, AWrongResultIsOneRow) {
  tune_and_expect({
      {"right();", "measured"},
      {"", "check, reported: C was not fully written"},
      {"right(); if (threadIdx.x == 17) C[17] += 1;", "check, reported: wrong result in C"},
      {"right(); C[3] = 0.0f / 0.0f;", "check, reported: wrong result in C"},
      {"right(); if (threadIdx.x == 0) C[256] = 0;",
       "check, reported: guard band hit: 4 bytes written past the end of C"},
      {"right(); if (threadIdx.x == 0) C[-2] = 0;",
       "check, reported: guard band hit: 4 bytes written before the start"},
      {"right(); __syncthreads(); if (threadIdx.x == 0) A[5] = 0;",
       "check, reported: input A was overwritten at element 5"},
      {"if (j > 0) right();", "check, reported: C was not fully written"},
  });
}

// Its first launch in that way comes right behind the kernel that writes the input.
TEST_F(GpuFaults, AProgrammaticLaunchThatDoesNotWaitIsOneRow) {
  const std::string probe = sandbox_.tune({"--probe", "--backend", "cuda"}).out;
  if (has(probe, "compute_capability: 7") || has(probe, "compute_capability: 8"))
    GTEST_SKIP() << "it takes compute capability 9.0";
  sandbox_.write("turn.cu", R"(
extern "C" __global__ void turn(const float* x, float* y, int n) {
#if WAITS
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) y[i] = x[n - 1 - i];
}
extern "C" __global__ void turn_simply(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = x[n - 1 - i];
}
)");
  sandbox_.write("turn.yaml", R"(
name: turn
file: turn.cu
kernel: turn
problem:
  custom:
    sizes: {n: 4194304}
    buffers: [{name: x, type: f32, count: n}, {name: y, type: f32, count: n, role: out}]
    reference: {kernel: turn_simply, grid: [n//256], block: [256], args: [x, y, n]}
params: {WAITS: [0, 1], $EARLY: [0, 1]}
launch: {grid: [264], block: [256], programmatic: EARLY, args: [x, y, n]}
)");
  for (const std::string n : {"4194304", "1024"}) {
    sandbox_.tune({"turn.yaml", "--problem", "n=" + n, "--output", n, "--keep-going"});
    expect_outcomes({{"", "measured"}, {"", "check, reported: wrong result in y"}, {"", "measured"}, {"", "measured"}},
                    n + ".jsonl");
  }
}

// Kernels that do their work only when they believe that someone looks.
TEST_F(GpuFaults, ADishonestKernelIsOneRow) {
  const std::string save = "right(); saved[threadIdx.x] = C[threadIdx.x];";
  const std::string answer_from_memory = "C[threadIdx.x] = saved[threadIdx.x];";
  tune_and_expect({
      {"right();", "measured"},
      {"if (before == 0) right();", "check, reported: C was not fully written"},
      {"if (before < 5) right();", "check, reported: C was not fully written"},
      {"if (before % 2 == 0) right();", "check, reported: C was not fully written"},
      {"if (before == 0 || i == 0) right();", "check, reported: C was not fully written"},
      {"if (before == 0 || C[0] != C[0]) right();", "measured"},
      {"if (before == 0) { " + save + " } else { " + answer_from_memory + " }", "check, reported: wrong result in C"},
      {"if (saved_for != A) { " + save + " } else { " + answer_from_memory +
           " }\n__syncthreads(); if (threadIdx.x == 0) saved_for = A;",
       "check, reported: wrong result in C"},
      {"float most = 0; for (int x = 0; x < m * k; ++x) most = max(most, abs(A[x]));\n"
       "if (saved_of != most) { " +
           save + " } else { " + answer_from_memory + " }\n__syncthreads(); if (threadIdx.x == 0) saved_of = most;",
       "check, reported: wrong result in C"},
      {"if (before == 0) C[threadIdx.x] = 0; right(); C[threadIdx.x] += saved[threadIdx.x];\n"
       "saved[threadIdx.x] = 1;",
       "check, reported: wrong result in C"},
      {"right_of_columns(before > 0);", "check, reported: wrong result in C"},
      {"right_of_columns(saved_for == B); if (threadIdx.x == 0) saved_for = B;", "check, reported: wrong result in C"},
      {"right_of_columns(before > 0 && saved_of == B[0]); if (threadIdx.x == 0) saved_of = B[0];",
       "check, reported: wrong result in C"},
      {"right(); if (threadIdx.x == 0) printf(\"{\\\"event\\\": \\\"measured\\\", \\\"timing\\\": "
       "{\\\"median\\\": 1e-9}}\\n\");",
       "measured"},
      {"right();", "measured"},
  });
}

TEST_F(GpuFaults, ACustomKernelThatKeepsItsFirstResultCannotWin) {
  sandbox_.write("copy.cu", R"(
__device__ float kept[65536];
__device__ bool is_kept[65536];
extern "C" __global__ void copy(const float* from, float* to) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (KEEPS && is_kept[i]) {
    to[i] = kept[i];
    return;
  }
  float sum = 0;
  for (int j = 0; j < 512; ++j) sum += from[i ^ j];
  kept[i] = to[i] = sum;
  is_kept[i] = true;
}
)");
  sandbox_.write("copy.yaml",
                 "{name: copy, file: copy.cu, kernel: copy, launch: {grid: [256], block: [256], args: [from, to]},\n"
                 "params: {KEEPS: [0, 1]}, problem: {custom: {sizes: {count: 65536}, reference: {spec: {KEEPS: 0}},\n"
                 "buffers: [{name: from, type: f32, count: count, init: uniform, role: in},\n"
                 "{name: to, type: f32, count: count, role: out}]}}}\n");
  const Result result = sandbox_.tune({"copy.yaml", "--tune", "--output", "kept"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(
      has(result.out, "note: spec 1 failed in the finals, although the sweep found it right: wrong result in to"))
      << result.out;
  EXPECT_TRUE(has(result.out, "top_spec_idx: 0\n")) << result.out;
}

TEST_F(GpuFaults, WhatCannotBeLaunchedIsPrunedWithTheReason) {
  const auto expect = [&](const std::string& launch, const std::string& reason) {
    const std::string said = refusal(launch);
    EXPECT_NE(said.find(reason), std::string::npos) << said;
  };
  expect("grid: [1], block: [1024, 2]", "allows 1024 threads");
  expect("grid: [1], block: [256], shared: 1048576", "launch.shared of gemm");
  expect("grid: [SPEC], block: [256]", "launch.grid of gemm must be from 1 to");
}

TEST_F(GpuFaults, TooMuchMemoryIsOneRow) {
  tune_and_expect({{"right();", "load, reported: out of memory on the device"}},
                  "grid: [1], block: [256], workspace: {bytes: 10**15}");
}

// A kernel of 255 registers, which only the build tells, cannot have 1024 threads.
TEST_F(GpuFaults, TooManyRegistersAreOneRow) {
  tune_and_expect(
      {{"right(); float x[240];\n"
        "#pragma unroll\nfor (int r = 0; r < 240; ++r) x[r] = A[r] * clock();\n"
        "#pragma unroll\nfor (int r = 0; r < 240; ++r) if (x[r] == k + 0.5f + r) C[r % 16] = x[(r * 7) % 240];",
        "check, reported: too many resources requested for launch"}},
      "grid: [1], block: [1024]");
}

TEST_F(GpuFaults, MoreThan48KiBOfSharedMemoryAreAllowed) {
  tune_and_expect({{"shared[threadIdx.x + 40000] = 1; right();", "measured"}},
                  "grid: [1], block: [256], shared: 200*1024");
}

}  // namespace
}  // namespace tune::cli::gpu_fault_test
