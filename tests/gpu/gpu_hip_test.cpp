// The HIP worker's own executable on an NVIDIA device, through the library of hip_on_cuda.cpp: what it launches, checks
// and times. Skipped where there is no such device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/cli.h"

#ifndef TUNE_HIP_ON_CUDA
#define TUNE_HIP_ON_CUDA ""
#endif

namespace tune::cli::gpu_hip_test {
namespace {

namespace fs = std::filesystem;

// A GEMM of any layouts, of as many elements as 16 x 16 blocks have; IN is widened to OUT, which it sums in too.
constexpr const char* kAnyGemm = R"(
using bf16 = unsigned short;
template <typename T> __device__ T widen(T x) { return x; }
__device__ float widen(bf16 x) { return __uint_as_float(unsigned(x) << 16); }
extern "C" __global__ void k(const IN* a, const IN* b, OUT* c, int k, int lda, int ldb, int ldc, long long stride_a,
                             long long stride_b, long long stride_c, OUT alpha, OUT beta BIAS) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  a += blockIdx.z * stride_a, b += blockIdx.z * stride_b, c += blockIdx.z * stride_c;
  OUT sum = 0;
  for (int p = 0; p < k; ++p)
    sum += OUT(widen(a[A_ROWS ? i * lda + p : p * lda + i])) * OUT(widen(b[B_ROWS ? p * ldb + j : j * ldb + p]));
  OUT& out = c[C_ROWS ? i * ldc + j : j * ldc + i];
  out = alpha * sum + (beta == 0 ? 0 : beta * out) + BIAS_TERM;
}
)";

struct VendorCase {
  const char *types, *macros;
  std::string layouts = "rrr", more;
};

class GpuHip : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(TUNE_HIP_ON_CUDA)) GTEST_SKIP() << "no HIP over CUDA: it needs the headers of both";
    sandbox_.environment.erase("TUNE_LOCKS");  // those that run beside each other take turns
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

TEST_F(GpuHip, APackageTestsItself) {
  sandbox_.write("k.hip",
                 R"(extern "C" __global__ void k(const float* a, const float* b, float* c, float* sums, int m, int n,
                                 int k, int lda, int ldb, int ldc) {
  const int i = blockIdx.y * BM + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  if (i >= m || j >= n) return;
  for (int p = 0; p < k; ++p) sums[i * n + j] += a[i * lda + p] * b[p * ldb + j];
  c[i * ldc + j] += sums[i * n + j];
}
)");
  sandbox_.write(
      "k.yaml",
      "{name: k, file: k.hip, kernel: k, problem: {gemm: {m: 64, n: 64, k: 96}}, params: {BM: [4, 8]},\n"
      "launch: {c_init: zero, workspace: {bytes: 4*m*n, zero: true}, grid: [\"ceil_div(n, 32)\", \"ceil_div(m, "
      "BM)\"], block: [32, BM], args: [A, B, C, workspace, m, n, k, lda, ldb, ldc]}}\n");
  const auto tune = [&](const std::vector<std::string>& words) {
    const Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, 0) << result.out << result.err;
  };
  tune({"k.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
  tune({"merge", "best.yaml", "-o", "db.yaml"});
  tune({"package", "db.yaml", "--yaml", "k.yaml", "-o", "pack"});
  const std::string folder = sandbox_.folder().string();
  const int status = std::system(("cd '" + folder +
                                  "' && { cmake -S pack -B build && cmake --build build; } > log && "
                                  "LD_LIBRARY_PATH=" TUNE_HIP_ON_CUDA "/lib build/selftest > said 2>&1")
                                     .c_str());
  EXPECT_EQ(status, 0) << sandbox_.read("log") << sandbox_.read("said");
  EXPECT_NE(sandbox_.read("said").find(" 0 wrong; "), std::string::npos) << sandbox_.read("said");
}

class GpuHipVendor : public GpuHip {
 protected:
  void SetUp() override {
    GpuHip::SetUp();
    if (!IsSkipped() && !fs::exists(TUNE_HIP_ON_CUDA "/lib/libhipblaslt.so")) GTEST_SKIP() << "it needs cuBLASLt";
  }

  /// What a run with the vendor's library in its finals prints.
  std::string table(const VendorCase& gemm) {
    const auto rows = [&](std::size_t i) { return gemm.layouts[i] == 'r'; };
    const auto layout = [&](std::size_t i) { return rows(i) ? "row" : "col"; };
    const bool biased = gemm.more.find("bias") != std::string::npos;
    sandbox_.write("k.hip", kAnyGemm);
    sandbox_.write(
        "k.yaml",
        fmt::format(
            "{{name: k, file: k.hip, kernel: k, baseline: vendor, params: {{P: 1}},\n"
            "measure: {{max_seconds: 0.01, cutoff: 0}},\n"
            "problem: {{gemm: {{m: 64, n: 48, k: 80, {}, layout: {{a: {}, b: {}, c: {}}}{}}}}},\n"
            "build: {{flags: [{}, -DA_ROWS={:d}, -DB_ROWS={:d}, -DC_ROWS={:d}, '-DBIAS={}', '-DBIAS_TERM={}']}},\n"
            "launch: {{grid: [3, 4, batch], block: [16, 16], args: [A, B, C, k, lda, ldb, ldc,\n"
            "{{i64: stride_a}}, {{i64: stride_b}}, {{i64: stride_c}}, alpha, beta{}]}}}}\n",
            gemm.types, layout(0), layout(1), layout(2), gemm.more, gemm.macros, rows(0), rows(1), rows(2),
            biased ? ", const OUT* bias" : "", biased ? "bias[j]" : "0", biased ? ", bias" : ""));
    const Result result = sandbox_.tune({"k.yaml", "--tune", "--output", "out" + std::to_string(runs_++)});
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    return result.out;
  }

  const VendorCase plain_ = {"a: f32", "-DIN=float, -DOUT=float", "rrr", ""};
  int runs_ = 0;
};

TEST_F(GpuHipVendor, IsCheckedAndTimedInTheFinals) {
  for (const VendorCase& gemm : std::vector<VendorCase>{
           plain_,
           {"a: f64", "-DIN=double, -DOUT=double", "rcr", ", alpha: 0.5, beta: -2"},
           {"a: bf16, c: f32", "-DIN=bf16, -DOUT=float", "crc", ", batch: 2, lda: 96, ldb: 88, ldc: 72, beta: 0.5"},
           {"a: s8", "'-DIN=signed char', -DOUT=int", "rcr", ", alpha: 2"},
           {"a: f32", "-DIN=float, -DOUT=float", "rrr", ", bias: row"},
       }) {
    const std::string out = table(gemm);
    EXPECT_NE(out.find("x vendor best"), std::string::npos) << gemm.types << out;
    // The library is named, and nothing else is to be said of it.
    EXPECT_NE(out.find("note: baseline vendor: hipBLASLt 0.10.0 ("), std::string::npos) << gemm.types << out;
    EXPECT_EQ(out.find("note: baseline"), out.rfind("note: baseline")) << gemm.types << out;
  }
}

TEST_F(GpuHipVendor, ThatIsWrongOrFailsIsANote) {
  sandbox_.environment["HIPBLASLT_ON_CUDA"] = "wrong";
  std::string out = table(plain_);
  EXPECT_NE(out.find("note: baseline vendor: wrong result in C"), std::string::npos) << out;
  sandbox_.environment["HIPBLASLT_ON_CUDA"] = "failing";
  out = table(plain_);
  EXPECT_NE(out.find("note: baseline vendor: hipBLASLt: HIPBLAS_STATUS_INTERNAL_ERROR"), std::string::npos) << out;
}

TEST_F(GpuHipVendor, ThatIsMissingOrLacksTheProblemIsANote) {
  VendorCase mixed = {"a: tf32, b: f32, c: f32", "-DIN=float, -DOUT=float", "rrr", ""};
  std::string out = table(mixed);
  EXPECT_NE(out.find("note: baseline vendor: hipBLASLt has no tf32 x f32 -> f32 GEMM"), std::string::npos) << out;
  fs::create_directories(sandbox_.folder() / "rocm/lib");
  for (const char* name : {"libamdhip64.so", "libamd_comgr.so"})
    fs::create_symlink(fs::path(TUNE_HIP_ON_CUDA) / "lib" / name, sandbox_.folder() / "rocm/lib" / name);
  sandbox_.environment["ROCM_PATH"] = (sandbox_.folder() / "rocm").string();
  out = table(plain_);
  EXPECT_NE(out.find("note: baseline vendor: no hipBLASLt: "), std::string::npos) << out;
}

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
    EXPECT_EQ(outcome.find("load, reported: args do not fit the parameters of kernel 'k'"), 0u) << outcome;
}

TEST_F(GpuHip, SharedMemoryBeyondTheDevicesIsPruned) {
  write("  c[i * n + j] = sum;");
  std::string yaml = sandbox_.read("k.yaml");
  sandbox_.write("k.yaml", yaml.replace(yaml.find("args:"), 0, "shared: 1000000, "));
  const Result result = sandbox_.tune({"k.yaml"});
  EXPECT_NE(result.err.find("2  launch.shared of k: "), std::string::npos) << result.err;
}

// What the kernel declares is known to the worker only.
TEST_F(GpuHip, SharedMemoryDeclaredBeyondTheDevicesIsRefused) {
  write(
      "  __shared__ float own[32 * BM];\n  own[threadIdx.y * 32 + threadIdx.x] = sum;\n"
      "  c[i * n + j] = own[threadIdx.y * 32 + threadIdx.x];");
  std::string yaml = sandbox_.read("k.yaml");
  sandbox_.write("k.yaml", yaml.replace(yaml.find("args:"), 0, "shared: device.max_shared_per_block, "));
  for (const std::string& outcome : outcomes())
    EXPECT_EQ(outcome.find("load, reported: a block of k needs "), 0u) << outcome;
}

}  // namespace
}  // namespace tune::cli::gpu_hip_test
