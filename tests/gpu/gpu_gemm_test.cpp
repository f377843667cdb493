// Every sort of GEMM on a real GPU: a naive kernel has to pass the check, and its mutants have to fail it. Skipped
// where there is no device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "checking/gpu_elements.h"
#include "checking/inputs.h"
#include "support/cli.h"
#include "support/gemm_cells.h"

namespace tune::cli::gpu_gemm_test {
namespace {

// What it does with `mutant`: 0 all right, 1 drops the last slice of k, 2 swaps columns 3 and 4, 3 multiplies one tile
// of A twice, 4 gets one element wrong, 5 keeps the sum in A's type.
constexpr const char* kKernel = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
using f64 = double; using f32 = float; using f16 = __half; using bf16 = __nv_bfloat16;
using e4m3 = __nv_fp8_e4m3; using e5m2 = __nv_fp8_e5m2; using s32 = int; using s8 = signed char;
struct tf32 {
  float value;
  __device__ explicit tf32(float x) : value(__uint_as_float(__float_as_uint(x) & ~0x1fffu)) {}
  __device__ explicit operator float() const { return value; }
};
template <typename T, typename U> constexpr bool same = false;
template <typename T> constexpr bool same<T, T> = true;
constexpr bool kConverts = same<ACC, f64> || same<ACC, s32>;  // all others go through float
template <typename T> __device__ ACC widen(T x) {
  if constexpr (kConverts) return ACC(x);
  else return ACC(float(x));
}
template <typename T> __device__ T narrow(ACC x) {
  if constexpr (kConverts) return T(x);
  else return T(float(x));
}
__device__ long long at(int row, int col, int ld, bool by_rows) {
  return by_rows ? static_cast<long long>(row) * ld + col : static_cast<long long>(col) * ld + row;
}
extern "C" __global__ void gemm(const A_TYPE* A, const B_TYPE* B, C_TYPE* C, int m, int n, int k, int lda, int ldb,
                                int ldc, long long stride_a, long long stride_b, long long stride_c, ACC alpha,
                                ACC beta, int mutant BIAS_PARAMETER
#if epilogue_residual
                                , const C_TYPE* residual
#endif
) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i >= m || j >= n) return;
  A += blockIdx.z * stride_a; B += blockIdx.z * stride_b; C += blockIdx.z * stride_c;
  const int col = mutant == 2 && (j == 3 || j == 4) ? 7 - j : mutant == 4 && i == 5 && j == 7 ? 6 : j;
  const int end = mutant == 1 ? k - 16 : k;
  ACC sum = 0;
  for (int p = 0; p < end; ++p) {
    const int stale = mutant == 3 && p >= k / 2 && p < k / 2 + 16 ? p - 16 : p;
    sum = sum + widen(A[at(i, stale, lda, A_ROWS)]) * widen(B[at(p, col, ldb, B_ROWS)]);
    if (mutant == 5) sum = widen(narrow<A_TYPE>(sum));
  }
  C_TYPE& c = C[at(i, j, ldc, C_ROWS)];
  sum = alpha * sum;
  if (beta != ACC(0)) sum = sum + beta * widen(c);
  sum = sum BIAS_TERM;
#if epilogue_relu
  sum = sum > ACC(0) ? sum : ACC(0);
#elif epilogue_gelu_tanh
  sum = 0.5f * sum * (1 + tanhf(0.797884561f * (sum + 0.044715f * sum * sum * sum)));
#elif epilogue_silu
  sum = mutant == 6 ? fmaxf(sum, 0) : sum / (1 + __expf(-sum));
#endif
#if epilogue_residual
  sum = sum + widen(residual[blockIdx.z * stride_c + at(i, j, ldc, C_ROWS)]);
#endif
  c = narrow<C_TYPE>(sum);
}
)";

struct Case {
  std::string a, b, c, acc;
  std::string layouts = "rrr";  ///< of A, B, C: row or col
  std::string more = "";        ///< entries of the problem
  std::string mutants = "[0]";  ///< values of the kernel's argument
  int k = 70;
};

class GpuGemm : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.environment.erase("TUNE_LOCKS");  // those that run beside each other take turns
    const Result probe = sandbox_.tune({"--probe", "--backend", "cuda"});
    if (probe.code != 0) GTEST_SKIP() << "no CUDA device: " << probe.err;
    sandbox_.write("gemm.cu", kKernel);
  }

  void write(const Case& gemm, const std::string& sizes = "m: 50, n: 40", const std::string& keys = "") const {
    const auto is_row = [&](std::size_t i) { return gemm.layouts[i] == 'r'; };
    const auto layout = [&](std::size_t i) { return is_row(i) ? "row" : "col"; };
    const bool biased = gemm.more.find("bias") != std::string::npos;
    const bool by_row = gemm.more.find("bias: row") != std::string::npos;
    std::string text =
        "{name: gemm, file: gemm.cu, kernel: gemm, " + keys + "measure: {max_seconds: 0.01, cutoff: 0},\n";
    text += fmt::format("params: {{$MUTANT: {}}},\n", gemm.mutants);
    text += fmt::format(
        "problem: {{gemm: {{{}, k: {}, a: {}, b: {}, c: {}, acc: {}, layout: {{a: {}, b: {}, c: "
        "{}}}{}}}}},\n",
        sizes, gemm.k, gemm.a, gemm.b, gemm.c, gemm.acc, layout(0), layout(1), layout(2), gemm.more);
    text += fmt::format(
        "build: {{flags: [-DA_TYPE={}, -DB_TYPE={}, -DC_TYPE={}, -DACC={}, -DA_ROWS={:d}, -DB_ROWS={:d}, "
        "-DC_ROWS={:d},\n"
        "'-DBIAS_PARAMETER={}', '-DBIAS_TERM={}'], defines: [epilogue]}},\n",
        gemm.a, gemm.b, gemm.c, gemm.acc, is_row(0), is_row(1), is_row(2), biased ? ", const C_TYPE* bias" : "",
        !biased  ? ""
        : by_row ? "+ widen(bias[j])"
                 : "+ widen(bias[i])");
    text += fmt::format(
        "launch: {{grid: [3, 4, batch], block: [16, 16], args: [A, B, C, m, n, k, lda, ldb, ldc,\n"
        "{{i64: stride_a}}, {{i64: stride_b}}, {{i64: stride_c}}, alpha, beta, MUTANT{}, {{optional: "
        "residual}}]}}}}\n",
        biased ? ", bias" : "");
    sandbox_.write("gemm.yaml", text);
  }

  /// The vendor's GEMM is checked against our reference as any kernel is: the two must agree. Returns what was printed.
  std::string table_with_vendor(Case gemm) {
    gemm.k = 80;
    write(gemm, "m: 64, n: 48", "baseline: vendor, ");
    const Result result = sandbox_.tune({"gemm.yaml", "--tune", "--output", "out" + std::to_string(runs_++)});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

  /// The outcome of each mutant.
  std::vector<std::string> outcomes(const Case& gemm) {
    write(gemm);
    const std::string journal = "out" + std::to_string(runs_++);
    const Result result = sandbox_.tune({"gemm.yaml", "--keep-going", "--output", journal});
    std::vector<std::string> outcomes;
    for (const wire::TrialRecord& record : sandbox_.trials(journal + ".jsonl")) {
      const auto index = static_cast<std::size_t>(record.trial.spec.mesh_idx);
      outcomes.resize(std::max(outcomes.size(), index + 1));
      const Measurement* measurement = record.trial.measurement();
      outcomes[index] = measurement && !measurement->checked ? "not checked" : outcome_text(record.trial);
    }
    if (outcomes.empty()) ADD_FAILURE() << sandbox_.read("gemm.yaml") << result.err << result.out;
    return outcomes;
  }

  void expect_right(const Case& gemm) {
    EXPECT_EQ(outcomes(gemm), std::vector<std::string>{"measured"})
        << gemm.a << " x " << gemm.b << " -> " << gemm.c << ", " << gemm.acc << " " << gemm.layouts << gemm.more;
  }

  Sandbox sandbox_;
  int runs_ = 0;
};

class GpuCells : public GpuGemm, public testing::WithParamInterface<Cell> {};

std::string name_of(const testing::TestParamInfo<Cell>& info) {
  return fmt::format("{}_{}_{}", to_text(info.param.in), to_text(info.param.acc), to_text(info.param.out));
}

/// Whether sums in the inputs' type differ from sums in the accumulator's by more than what rounding C hides.
bool narrows(const Cell& cell) { return size_of(cell.in) < size_of(cell.acc) || cell.in == Type::tf32; }

TEST_P(GpuCells, TheHonestKernelPassesAndItsMutantsFail) {
  const Cell& cell = GetParam();
  for (const int k : {128, 8192}) {
    SCOPED_TRACE(k);
    const std::string in(to_text(cell.in)), acc(to_text(cell.acc)), out(to_text(cell.out));
    const auto got = outcomes({in, in, out, acc, "rrr", "", "[0, 1, 2, 3, 4, 5]", k});
    ASSERT_EQ(got.size(), 6U);
    EXPECT_EQ(got[0], "measured");
    for (std::size_t mutant = 1; mutant < got.size(); ++mutant) {
      // Long sums in f16 are off by as much as a slice of k is worth: nobody can tell.
      if (cell.acc == Type::f16 && k > 1000 && mutant != 2) continue;
      if (mutant == 5 && (!narrows(cell) || cell.in == Type::s8)) continue;
      EXPECT_EQ(got[mutant], "check, reported: wrong result in C") << "mutant " << mutant;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GpuCells, testing::ValuesIn(kGpuCells), name_of);

TEST_F(GpuGemm, InputsOfTwoTypesAreChecked) {
  expect_right({"e4m3", "e5m2", "bf16", "f32"});
  expect_right({"f16", "bf16", "f32", "f32"});
}

TEST_F(GpuGemm, EveryLayoutFactorBatchPaddingAndBiasIsChecked) {
  for (const char* layouts : {"rrr", "rrc", "rcr", "rcc", "crr", "crc", "ccr", "ccc"})
    expect_right({"bf16", "bf16", "f32", "f32", layouts});
  expect_right({"f32", "f32", "f32", "f32", "rcr", ", alpha: 0.5, beta: -2"});
  expect_right({"f16", "f16", "f16", "f16", "rrr", ", alpha: 0.5, beta: 1"});
  expect_right({"s8", "s8", "s32", "s32", "rrr", ", alpha: 2, beta: 1, bias: col"});
  expect_right({"f32", "f32", "f32", "f32", "rrr", ", batch: 3"});
  expect_right({"f32", "f32", "f32", "f32", "crc", ", batch: 2, lda: 80, ldb: 48, ldc: 56, beta: 1"});
  expect_right({"bf16", "bf16", "bf16", "f32", "rrr", ", batch: 2, bias: row"});
  expect_right({"e4m3", "e4m3", "f16", "f32", "rcc", ", beta: 1, bias: col"});
  for (const char* init : {"normal", "hpl", "trig", "zeros"})
    expect_right({"bf16", "bf16", "bf16", "f32", "rrr", std::string(", init: ") + init});
}

TEST_F(GpuGemm, TypesThatItLacksAreRefusedBeforeAnythingStarts) {
  sandbox_.write(
      "gemm.yaml",
      "{name: gemm, file: gemm.cu, kernel: gemm, params: {P: 1}, launch: {grid: [1], block: [1], args: [A]},\n"
      "problem: {gemm: {m: 8, n: 8, k: 8, a: s8, acc: f32}}}\n");
  const Result result = sandbox_.tune({"gemm.yaml"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(
      result.err.find("gemm.yaml:2: the cuda backend has no s8 matrices with f32 accumulation; a and b are one of "
                      "f32 tf32 f16 bf16 e4m3 e5m2"),
      std::string::npos)
      << result.err;
}

constexpr Type kAllTypes[] = {Type::f64,  Type::f32,  Type::tf32, Type::f16, Type::bf16,
                              Type::e4m3, Type::e5m2, Type::s32,  Type::s8};
constexpr int kSources = 7;
constexpr int kHashed = 3000;

gpu::Bits hash_on_host(Type type, generator::Source source) {
  std::vector<std::byte> data(static_cast<std::size_t>(kHashed * size_of(type)));
  worker::fill({type, source, 7, 1}, data.data(), kHashed);
  gpu::Bits hash = 0;
  for (gpu::Bits i = 0; i < kHashed; ++i)
    hash = generator::mix(hash + gpu::read(static_cast<gpu::Element>(type), data.data(), i));
  return hash;
}

TEST_F(GpuGemm, InputsAreTheHostsBitForBit) {
  std::string hashes;
  for (const Type type : kAllTypes)
    for (int source = 0; source < kSources; ++source)
      hashes += fmt::format("{}0x{:x}", hashes.empty() ? "" : ",",
                            hash_on_host(type, static_cast<generator::Source>(source)));
  sandbox_.write("inputs.cu", R"(
#include "checking/gpu_elements.h"
using namespace tune::gpu;
extern "C" __global__ void inputs(int* right) {
  constexpr Bits kExpected[] = {HASHES};
  Bits hash = 0;
  const auto type = static_cast<Element>(threadIdx.x / SOURCES);
  const auto source = static_cast<Source>(threadIdx.x % SOURCES);
  const Bits key = tune::generator::key(7, 1);
  for (Bits i = 0; i < COUNT; ++i) hash = tune::generator::mix(hash + element(type, source, key, i));
  right[threadIdx.x] = hash == kExpected[threadIdx.x];
}
extern "C" __global__ void ones(int* right) { right[threadIdx.x] = 1; }
)");
  sandbox_.write("inputs.yaml",
                 fmt::format("name: inputs\nfile: inputs.cu\nkernel: inputs\nparams: {{SOURCES: {0}, COUNT: {1}}}\n"
                             "problem:\n  custom:\n    sizes: {{n: {2}}}\n"
                             "    buffers: {{name: right, type: s32, count: n, role: out}}\n"
                             "    reference: {{kernel: ones, grid: [1], block: [n], args: [right]}}\n"
                             "launch: {{grid: [1], block: [n], args: [right]}}\nmeasure: {{max_seconds: 0.01}}\n"
                             "build: {{include: [{3}], flags: ['-DHASHES={4}']}}\n",
                             kSources, kHashed, kSources * std::size(kAllTypes), TUNE_SOURCE_DIR "/worker", hashes));
  const Result result = sandbox_.tune({"inputs.yaml", "--output", "out"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST_F(GpuGemm, TheVendorsLibraryAgreesWithOurReference) {
  for (const Case& gemm : std::vector<Case>{
           {"f32", "f32", "f32", "f32"},
           {"f64", "f64", "f64", "f64"},
           {"tf32", "tf32", "f32", "f32"},
           {"f16", "f16", "f16", "f32"},
           {"f16", "f16", "f16", "f16"},
           {"bf16", "bf16", "bf16", "f32", "rcr"},
           {"bf16", "bf16", "f32", "f32", "crc", ", batch: 2, lda: 96, ldb: 88, ldc: 72, beta: 0.5"},
           {"e4m3", "e4m3", "bf16", "f32", "rcr"},
           {"s8", "s8", "s32", "s32", "rcr", ", alpha: 2"},
           {"f16", "f16", "f16", "f32", "rrr", ", bias: row"},
           {"bf16", "bf16", "bf16", "f32", "rcr", ", epilogue: relu"},
           {"bf16", "bf16", "bf16", "f32", "rcr", ", bias: row, epilogue: relu"},
           {"f16", "f16", "f32", "f32", "rcr", ", epilogue: gelu_tanh"},
           {"bf16", "bf16", "bf16", "f32", "rcc", ", bias: col, epilogue: gelu_tanh"},
           {"f32", "f32", "f32", "f32", "rrr", ", residual: true"},
       }) {
    const std::string table = table_with_vendor(gemm);
    EXPECT_NE(table.find("x vendor best"), std::string::npos) << gemm.a << " -> " << gemm.c << table;
  }
}

TEST_F(GpuGemm, AnotherEpilogueIsFound) {
  for (const char* type : {"f16", "bf16", "f32"}) {
    const Case gemm = {type, type, type, "f32", "rcr", ", bias: row, epilogue: silu, residual: true", "[0, 6]"};
    EXPECT_EQ(outcomes(gemm), (std::vector<std::string>{"measured", "check, reported: wrong result in C"})) << type;
  }
}

TEST_F(GpuGemm, OfAnEpilogueThatTheVendorsLibraryLacksThereIsANote) {
  const std::string table = table_with_vendor({"bf16", "bf16", "bf16", "f32", "rcr", ", epilogue: silu"});
  EXPECT_NE(table.find("note: baseline vendor: cuBLASLt has no epilogue silu"), std::string::npos) << table;
}

TEST_F(GpuGemm, WhatTheVendorsLibraryLacksIsANote) {
  const std::string table = table_with_vendor({"tf32", "f32", "f32", "f32"});
  EXPECT_NE(table.find("note: baseline vendor: cuBLASLt has no tf32 x f32 -> f32 GEMM"), std::string::npos) << table;
  EXPECT_EQ(table.find("baseline vendor best:"), std::string::npos) << "the same reason once";
}

TEST_F(GpuGemm, PaddingThatIsWrittenToIsFound) {
  sandbox_.write("gemm.cu", R"(
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int m, int n, int k, int ldc) {
  const int i = blockIdx.x, j = threadIdx.x;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
  C[i * ldc + j] = sum;
  if (SPEC == 1 && i == 2 && j == 0) C[2 * ldc + n + 1] = 0;
}
)");
  sandbox_.write("gemm.yaml",
                 "{name: gemm, file: gemm.cu, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16, ldc: 20}},\n"
                 "params: {SPEC: [0, 1]}, measure: {max_seconds: 0.01}, launch: {grid: [16], block: [16], "
                 "args: [A, B, C, m, n, k, ldc]}}\n");
  sandbox_.tune({"gemm.yaml", "--output", "out"});
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
    EXPECT_EQ(outcome_text(record.trial), record.trial.spec.mesh_idx == 0
                                              ? "measured"
                                              : "check, reported: padding of C was overwritten at element 57");
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

/// Tunes at so many rows, with more arguments, and writes to `output`.
void expect_right_kernels(const Sandbox& sandbox, const std::string& config, const std::string& output,
                          std::vector<std::string> arguments, const std::string& rows = "1000") {
  const std::vector<std::string> others = {"-m", rows, "--max-evals", "10", "--keep-going"};
  arguments.insert(arguments.begin(), {TUNE_SOURCE_DIR "/configs/" + config + ".yaml", "--output", output});
  arguments.insert(arguments.end(), others.begin(), others.end());
  const Result result = sandbox.tune(arguments);
  if (result.err.find("sm_90a") != std::string::npos) return;  // wgmma on another chip
  EXPECT_EQ(result.code, 0) << output << result.err;
  for (const wire::TrialRecord& record : sandbox.trials(output + ".jsonl")) {
    const std::string outcome = outcome_text(record.trial);
    EXPECT_TRUE(outcome == "measured" || outcome == "pruned") << output << ' ' << record.trial.spec.mesh_idx << outcome;
  }
}

TEST_F(GpuGemm, TheKernelsOfTheRepositoryAreRightAtSizesThatNoTileFits) {
  for (const char* name : {"gemm_simt", "gemm_mma", "gemm_multistage", "gemm_wgmma", "hopper_bf16"})
    expect_right_kernels(sandbox_, name, name, {"-n", "520", "-k", "136"});
  // Rows of C that the TMA cannot store.
  for (const char* columns : {"517", "518", "516"})
    for (const char* swap : {"SWAP:0", "SWAP:1"})
      expect_right_kernels(sandbox_, "hopper_bf16", std::string(columns) + swap,
                           {"-n", columns, "-k", "136", "--param", "EPILOGUE:tma", "--param", swap});
  std::vector<std::string> fp8 = {"-n", "520", "-k", "1040", "--problem", "a=e4m3", "--problem", "b=e4m3"};
  expect_right_kernels(sandbox_, "hopper_bf16", "fp8", fp8);
  // Also rows of scales that start at no multiples of 16 bytes, and few rows, which gemv multiplies as well.
  std::vector<std::string> scaled = fp8;
  scaled.insert(scaled.end(), {"--problem", "scale_a=1x128", "--problem", "scale_b=128x128"});
  for (const char* rows : {"1000", "999", "37", "3"})
    expect_right_kernels(sandbox_, "hopper_bf16", std::string("scaled") + rows, scaled, rows);
  std::vector<std::string> lines = fp8;
  lines.insert(lines.end(), {"--problem", "scale_a=row", "--problem", "scale_b=col"});
  for (const char* rows : {"999", "37", "3"})
    expect_right_kernels(sandbox_, "hopper_bf16", std::string("lines") + rows, lines, rows);
  fp8.insert(fp8.end(), {"--problem", "fast_accum=true"});
  expect_right_kernels(sandbox_, "hopper_bf16", "fast_fp8", fp8);
}

TEST_F(GpuGemm, TheKernelsOfTheRepositoryThatWorkOnRowsAreRight) {
  for (const char* name : {"softmax", "layernorm"}) {
    const Result result =
        sandbox_.tune({std::string(TUNE_SOURCE_DIR) + "/configs/" + name + ".yaml", "--backend", "cuda", "--output",
                       name, "--problem", "rows=37", "--problem", "cols=1000", "--max-evals", "20", "--keep-going"});
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    for (const wire::TrialRecord& record : sandbox_.trials(std::string(name) + ".jsonl"))
      EXPECT_TRUE(record.trial.measurement() && record.trial.measurement()->checked) << outcome_text(record.trial);
  }
}

}  // namespace
}  // namespace tune::cli::gpu_gemm_test
