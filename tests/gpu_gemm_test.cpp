// Every sort of GEMM on a real GPU: a naive kernel has to pass the check, or the backend has to refuse the problem.
// Skipped where there is no device.
#include <gtest/gtest.h>

#include "cli.h"

namespace tune::cli {
namespace {

constexpr const char* kKernel = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
using f64 = double; using f32 = float; using tf32 = float; using f16 = __half; using bf16 = __nv_bfloat16;
using e4m3 = __nv_fp8_e4m3; using e5m2 = __nv_fp8_e5m2; using s32 = int; using s8 = signed char;
template <typename T, typename U> constexpr bool same = false;
template <typename T> constexpr bool same<T, T> = true;
constexpr bool kConverts = same<ACC, f64> || same<ACC, s32>;  // all others go through float
template <typename T> __device__ ACC widen(T x) {
  if constexpr (kConverts) return ACC(x);
  else return ACC(float(x));
}
__device__ long long at(int row, int col, int ld, bool by_rows) {
  return by_rows ? static_cast<long long>(row) * ld + col : static_cast<long long>(col) * ld + row;
}
extern "C" __global__ void gemm(const A_TYPE* A, const B_TYPE* B, C_TYPE* C, int m, int n, int k, int lda, int ldb,
                                int ldc, long long stride_a, long long stride_b, long long stride_c, ACC alpha,
                                ACC beta) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i >= m || j >= n) return;
  A += blockIdx.z * stride_a; B += blockIdx.z * stride_b; C += blockIdx.z * stride_c;
  ACC sum = 0;
  for (int p = 0; p < k; ++p)
    sum = sum + widen(A[at(i, p, lda, A_ROWS)]) * widen(B[at(p, j, ldb, B_ROWS)]);
  C_TYPE& c = C[at(i, j, ldc, C_ROWS)];
  sum = alpha * sum;
  if (beta != ACC(0)) sum = sum + beta * widen(c);
  if constexpr (kConverts) c = C_TYPE(sum);
  else c = C_TYPE(float(sum));
}
)";

struct Cell {
  std::string a, b, c, acc;
  std::string outcome = "measured";
  std::string layouts = "rrr";  ///< of A, B, C: row or col
  std::string more = "";        ///< entries of the problem
};

class GpuGemm : public testing::Test {
 protected:
  void SetUp() override {
    const Result probe = sandbox_.tune({"--probe", "--backend", "cuda"});
    if (probe.code != 0) GTEST_SKIP() << "no CUDA device: " << probe.err;
    sandbox_.write("gemm.cu", kKernel);
  }

  void expect(const Cell& cell) {
    const auto layout = [&](int i) { return cell.layouts[static_cast<std::size_t>(i)] == 'r' ? "row" : "col"; };
    const auto rows = [&](int i) { return cell.layouts[static_cast<std::size_t>(i)] == 'r' ? "=1" : "=0"; };
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cu, kernel: gemm, measure: {max_seconds: 0.01}, params: {SPEC: 1},\n"
                   "problem: {gemm: {m: 50, n: 40, k: 70, a: " +
                       cell.a + ", b: " + cell.b + ", c: " + cell.c + ", acc: " + cell.acc +
                       ", layout: {a: " + layout(0) + ", b: " + layout(1) + ", c: " + layout(2) + "}" + cell.more +
                       "}},\nbuild: {flags: [-DA_TYPE=" + cell.a + ", -DB_TYPE=" + cell.b + ", -DC_TYPE=" + cell.c +
                       ", -DACC=" + cell.acc + ", -DA_ROWS" + rows(0) + ", -DB_ROWS" + rows(1) + ", -DC_ROWS" +
                       rows(2) +
                       "]},\nlaunch: {grid: [3, 4, batch], block: [16, 16], args: [A, B, C, m, n, k, lda, ldb, ldc,\n"
                       "{i64: stride_a}, {i64: stride_b}, {i64: stride_c}, alpha, beta]}}\n");
    const std::string journal = "out" + std::to_string(runs_++);
    const Result result = sandbox_.tune({"gemm.yaml", "--output", journal});
    const auto trials = sandbox_.trials(journal + ".jsonl");
    const std::string what =
        cell.a + " x " + cell.b + " -> " + cell.c + ", " + cell.acc + " " + cell.layouts + cell.more;
    if (trials.size() != 1) {
      ADD_FAILURE() << what << ": " << result.err << result.out;
      return;
    }
    const Trial& trial = trials.front().trial;
    EXPECT_TRUE(outcome_text(trial).starts_with(cell.outcome)) << what << ": " << outcome_text(trial);
    EXPECT_TRUE(!trial.measurement() || trial.measurement()->checked) << what;
  }

  Sandbox sandbox_;
  int runs_ = 0;
};

TEST_F(GpuGemm, EveryTypeIsCheckedOrRefused) {
  for (const Cell& cell : std::vector<Cell>{
           {"f32", "f32", "f32", "f32"},
           {"f64", "f64", "f64", "f64"},
           {"tf32", "tf32", "f32", "f32"},
           {"f16", "f16", "f16", "f32"},
           {"f16", "f16", "f32", "f32"},
           {"f16", "f16", "f16", "f16"},
           {"bf16", "bf16", "bf16", "f32"},
           {"bf16", "bf16", "f32", "f32"},
           {"e4m3", "e4m3", "f16", "f32"},
           {"e4m3", "e5m2", "bf16", "f32"},
           {"e5m2", "e4m3", "f32", "f32"},
           {"s8", "s8", "s32", "s32"},
           {"s8", "s8", "f32", "f32", "build, reported: the GPU backend has no s8 matrices with f32 accumulation"},
           {"f64", "f64", "f64", "f32", "build, reported: the GPU backend has no f64 matrices with f32 accumulation"},
           {"f32", "f32", "s32", "f32", "build, reported: the GPU backend has no s32 result with f32 accumulation"},
           {"f16", "f16", "e4m3", "f32", "build, reported: the GPU backend has no e4m3 result with f32 accumulation"},
       })
    expect(cell);
}

TEST_F(GpuGemm, EveryLayoutFactorBatchAndPaddingIsChecked) {
  for (const char* layouts : {"rrr", "rrc", "rcr", "rcc", "crr", "crc", "ccr", "ccc"})
    expect({"bf16", "bf16", "f32", "f32", "measured", layouts, ""});
  expect({"f32", "f32", "f32", "f32", "measured", "rcr", ", alpha: 0.5, beta: -2"});
  expect({"f16", "f16", "f16", "f16", "measured", "rrr", ", alpha: 0.5, beta: 1"});
  expect({"s8", "s8", "s32", "s32", "measured", "rrr", ", alpha: 2, beta: 1"});
  expect({"f32", "f32", "f32", "f32", "measured", "rrr", ", batch: 3"});
  expect({"f32", "f32", "f32", "f32", "measured", "crc", ", batch: 2, lda: 64, ldb: 48, ldc: 56, beta: 1"});
  for (const char* init : {"normal", "hpl", "trig", "zeros"})
    expect({"bf16", "bf16", "bf16", "f32", "measured", "rrr", std::string(", init: ") + init});
}

TEST_F(GpuGemm, ATensorMapBringsTheMatrix) {
  sandbox_.write("gemm.cu", R"(
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void gemm(const __grid_constant__ Map map, const float* B, float* C, int m, int n, int k) {
  __shared__ alignas(128) float tile[256];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(1024));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(&map), "r"(0), "r"(0), "r"(at) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }"
               ::"r"(at) : "memory");
  const int i = threadIdx.x / 16, j = threadIdx.x % 16;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += tile[i * 16 + p] * B[p * n + j];
  C[i * n + j] = sum;
}
)");
  const auto outcome = [&](const std::string& box, const std::string& name) {
    sandbox_.write(
        "gemm.yaml",
        "{name: gemm, file: gemm.cu, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {SPEC: 1},\n"
        "measure: {max_seconds: 0.01}, launch: {grid: [1], block: [256], args: [{tma: A, box: " +
            box + ", l2: 128}, B, C, m, n, k]}}\n");
    sandbox_.tune({"gemm.yaml", "--output", name});
    const auto trials = sandbox_.trials(name + ".jsonl");
    return trials.size() == 1 ? outcome_text(trials.front().trial) : "";
  };
  EXPECT_EQ(outcome("[16, 16]", "right"), "measured");
  EXPECT_EQ(outcome("[16, 512]", "large"), "load, reported: tma A: the driver refuses this tensor map");
  EXPECT_TRUE(outcome("[16]", "flat").starts_with("load, reported: tma A: box has 1 entries"));
}

TEST_F(GpuGemm, AClusterIsLaunched) {
  sandbox_.write("gemm.cu", R"(
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  unsigned blocks;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
  const int i = blockIdx.x, j = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
  C[i * n + j] = blocks == 2 ? sum : 0;
}
)");
  sandbox_.write(
      "gemm.yaml",
      "{name: gemm, file: gemm.cu, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}}, params: {PAIR: [[1, 1], "
      "[2, 1]]},\nmeasure: {max_seconds: 0.01}, launch: {grid: [16], block: [16], cluster: PAIR, args: [A, B, "
      "C, m, n, k]}}\n");
  sandbox_.tune({"gemm.yaml", "--output", "out"});
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
    EXPECT_EQ(outcome_text(record.trial),
              record.trial.spec.mesh_idx == 0 ? "check, reported: wrong result in C" : "measured");
}

TEST_F(GpuGemm, TheKernelsOfTheRepositoryAreRightAtSizesThatNoTileFits) {
  for (const char* name : {"gemm_simt", "gemm_mma", "gemm_multistage", "gemm_wgmma"}) {
    const std::string yaml = std::string(TUNE_SOURCE_DIR "/configs/") + name + ".yaml";
    const Result result = sandbox_.tune(
        {yaml, "-m", "1000", "-n", "520", "-k", "136", "--max-evals", "10", "--keep-going", "--output", name});
    if (result.err.find("sm_90a") != std::string::npos) continue;  // wgmma on another chip
    EXPECT_EQ(result.code, 0) << name << result.err;
    for (const wire::TrialRecord& record : sandbox_.trials(std::string(name) + ".jsonl")) {
      const std::string outcome = outcome_text(record.trial);
      EXPECT_TRUE(outcome == "measured" || outcome == "pruned") << name << ' ' << record.trial.spec.mesh_idx << outcome;
    }
  }
}

}  // namespace
}  // namespace tune::cli
