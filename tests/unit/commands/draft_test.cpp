// Tuning files that are written from the source of a kernel: tests/kernels/init has kernels in the styles of others.
#include "commands/init/draft.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::commands::draft_test {
namespace {

namespace fs = std::filesystem;

const fs::path kKernels = fs::path(TUNE_SOURCE_DIR) / "tests/kernels/init";

bool is_gpu_source(const fs::path& file) { return file.extension() == ".cu" || file.extension() == ".hip"; }

Draft draft_of(const fs::path& file, std::size_t kernel = 0) {
  const KernelSource source = read_kernel_source(file, is_gpu_source(file));
  return draft_tuning_file(source, source.kernels.at(kernel), {"k", file.filename().string(), is_gpu_source(file)});
}

/// What a section has under this key, without its comment.
std::string value(const Draft& draft, const std::string& key) {
  const std::string begin = "\n  " + key + ": ";
  const auto at = draft.yaml.find(begin);
  if (at == std::string::npos) return "none";
  const auto from = at + begin.size();
  const std::string line = draft.yaml.substr(from, draft.yaml.find('\n', from) - from);
  const std::string text = line.substr(0, line.find("  #"));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

TEST(Draft, HasTheLaunchThatTheKernelIndexesFor) {
  struct Case {
    const char *file, *grid, *block, *args;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"vector_add.cu", "[\"ceil_div(n, BLOCK)\"]", "[BLOCK]", "[c, a, b, n]"},
           {"saxpy.cu", "[\"ceil_div(n, THREADS*PER_THREAD)\"]", "[THREADS]", "[{i64: n}, {f32: 1.0}, x, y]"},
           {"softmax.cu", "[rows]", "[BLOCK]", "[x, y, rows, cols]"},
           {"transpose.cu", "[\"ceil_div(width, TILE_DIM)\", \"ceil_div(height, TILE_DIM)\"]", "[TILE_DIM, BLOCK_ROWS]",
            "[odata, idata, width, height]"},
           {"matmul_naive.cu", "[\"ceil_div(n, BLOCK_X)\", \"ceil_div(m, BLOCK_Y)\"]", "[BLOCK_X, BLOCK_Y]",
            "[A, B, C, m, n, k]"},
           {"sgemm_tiled.cu", "[\"ceil_div(n, BN)\", \"ceil_div(m, BM)\"]", "[(BM//TM)*(BN//TN)]",
            "[m, n, k, alpha, A, B, beta, C]"},
           {"stencil.cu", "[\"ceil_div(w, block_size_x*work_per_thread)\", \"ceil_div(h, block_size_y)\"]",
            "[block_size_x, block_size_y]", "[y, x, w, h]"},
           {"layernorm.cu", "[rows]", "[NUM_THREADS]", "[input, gamma, beta, output, rows, hidden, {f32: 1.0}]"},
           {"vectorized.hip", "[\"ceil_div(count, BLOCK_SIZE)\"]", "[BLOCK_SIZE]", "[in, out, {f32: 1.0}, count]"},
           {"blur.cpp", "none", "none", "[image, result, height, width]"},
           {"dot.c", "none", "none", "[matrix, vector, result, rows, cols]"},
           {"gemm_blocked.cpp", "none", "none", "[A, B, C, m, n, k, THREADS]"}}) {
    SCOPED_TRACE(each.file);
    const Draft draft = draft_of(kKernels / each.file);
    EXPECT_EQ(value(draft, "grid"), each.grid);
    EXPECT_EQ(value(draft, "block"), each.block);
    EXPECT_EQ(value(draft, "args"), each.args);
  }
}

TEST(Draft, HasTheParametersThatTheSourceLeavesOpen) {
  const Draft saxpy = draft_of(kKernels / "saxpy.cu");
  EXPECT_EQ(value(saxpy, "THREADS"), "[128, 256, 512]") << "around the number in the source";
  EXPECT_NE(saxpy.yaml.find("\ndefault: {THREADS: 256, PER_THREAD: 4}\n"), std::string::npos) << saxpy.yaml;
  EXPECT_EQ(value(draft_of(kKernels / "softmax.cu"), "BLOCK"), "{pow2: [64, 1024]}");
  EXPECT_EQ(value(draft_of(kKernels / "vector_add.cu"), "$BLOCK"), "{pow2: [64, 1024]}") << "the launch chooses it";
  EXPECT_EQ(value(draft_of(kKernels / "blur.cpp"), "NUM_THREADS"), "[1, 2, 4, 8]") << "it is in a pragma alone";
  EXPECT_EQ(value(draft_of(kKernels / "gemm_blocked.cpp"), "$THREADS"), "[1, 2, 4, 8]") << "it is an argument";
  EXPECT_EQ(draft_of(kKernels / "sgemm_tiled.cu").parameters, 5);
}

TEST(Draft, HasTheBuffersThatAreIndexed) {
  const std::string layernorm = draft_of(kKernels / "layernorm.cu").yaml;
  for (const char* buffer :
       {"{name: input, type: f16, count: rows*hidden, role: in}", "{name: gamma, type: f16, count: hidden, role: in}",
        "{name: output, type: f16, count: rows*hidden, role: out}"})
    EXPECT_NE(layernorm.find(buffer), std::string::npos) << layernorm;
  EXPECT_NE(draft_of(kKernels / "saxpy.cu").yaml.find("{name: y, type: f32, count: n, role: inout}"),
            std::string::npos);
  EXPECT_NE(draft_of(kKernels / "vectorized.hip").yaml.find("{name: out, type: f32, count: 4*count, role: out}"),
            std::string::npos);
  EXPECT_NE(draft_of(kKernels / "dot.c").yaml.find("{name: result, type: f64, count: rows, role: out}"),
            std::string::npos);
}

class DraftOfText : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    platform::write_file(folder_ / name, text);
    return folder_ / name;
  }

  fs::path folder_ = fs::path(testing::TempDir()) /
                     (std::string("draft_test_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(DraftOfText, TakesConstraintsFromAssertions) {
  const Draft draft = draft_of(write("k.cu",
                                     "constexpr int kRows = BM / TM;\n"
                                     "static_assert(kRows % 8 == 0 && BM <= 256, \"whole warps\");\n"
                                     "static_assert(MODE == 3 || MODE == 5, \"there are two\");\n"
                                     "static_assert(sizeof(int) == 4);\n"
                                     "extern \"C\" __global__ void k(float* x, int n) {\n"
                                     "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                     "  if (i < n) x[i] = BM + TM + MODE;\n}\n"));
  EXPECT_NE(draft.yaml.find("  - (BM//TM)%8 == 0 and BM <= 256  # whole warps\n"), std::string::npos) << draft.yaml;
  EXPECT_EQ(value(draft, "MODE"), "[3, 5]");
  EXPECT_EQ(draft.yaml.find("sizeof"), std::string::npos);
}

TEST_F(DraftOfText, FindsParametersThatOnlyPragmasName) {
  const Draft draft = draft_of(write("k.cpp",
                                     "extern \"C\" void k(float* x, long n) {\n#pragma GCC ivdep\n"
                                     "#pragma GCC unroll UNROLL\n  for (long i = 0; i < n; ++i) x[i] *= 2;\n"
                                     "#pragma unroll MORE\n  for (long i = 0; i < n; ++i) x[i] += 1;\n"
                                     "#pragma clang loop vectorize(enable) unroll_count(COUNT) interleave_count(2)\n"
                                     "  for (long i = 0; i < n; ++i) x[i] += 2;\n}\n"));
  EXPECT_NE(value(draft, "UNROLL"), "none") << draft.yaml;
  EXPECT_NE(value(draft, "MORE"), "none") << draft.yaml;
  EXPECT_NE(value(draft, "COUNT"), "none") << draft.yaml;
  EXPECT_EQ(value(draft, "ivdep"), "none") << draft.yaml;
  EXPECT_EQ(value(draft, "enable"), "none") << draft.yaml;
}

// Both branches of a condition, its arguments, and what the file that includes another has defined.
TEST_F(DraftOfText, FollowsConditions) {
  write(
      "part.cu",
      "#ifndef ROWS\n#define ROWS 4\n#endif\n#if WIDE\nconstexpr bool kWide = true;\nconstexpr int kStep = 8;\n#else\n"
      "constexpr bool kWide = false;\nconstexpr int kStep = 2;\n#endif\n"
      "constexpr int kRows = kWide ? TILE : (kStep > 4 ? 1 : TILE / 2);\n"
      "static_assert(kRows % ROWS == 0 && !kWide, \"whole rows\");\n"
      "extern \"C\" __global__ void k(const float* x,\n#if MASKED\n  const int* mask,\n#endif\n  float* y, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += LOADERS + TILE) y[i] = x[i];\n}\n");
  const Draft draft = draft_of(write("k.cu", "#define ROWS 8\n#include \"part.cu\"\n"));
  EXPECT_EQ(value(draft, "ROWS"), "none") << draft.yaml;
  const std::string wide = "(True if WIDE else False)";
  const std::string constraint = "  - (TILE if " + wide +
                                 " else (1 if (8 if WIDE else 2) > 4 else TILE//2))%8 == 0 and not " + wide +
                                 "  # whole rows\n";
  EXPECT_NE(draft.yaml.find(constraint), std::string::npos) << draft.yaml;
  for (const char* text : {"\n  - if: MASKED\n", "\n    args: [x, mask, y, n]\n", "\n  - if: not (MASKED)\n",
                           "\n    args: [x, y, n]\n", "\n    block: [LOADERS+TILE]\n"})
    EXPECT_NE(draft.yaml.find(text), std::string::npos) << text << draft.yaml;
}

TEST_F(DraftOfText, CallsATransposedOperandOfAProductSo) {
  const Draft draft =
      draft_of(write("k.cpp",
                     "extern \"C\" void k(const float* a, const float* b, float* c, int m, int n, int k) {\n"
                     "  for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j) {\n"
                     "      float sum = 0;\n"
                     "      for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[j * k + p];\n"
                     "      c[i * n + j] = sum;\n    }\n}\n"));
  EXPECT_NE(draft.yaml.find("layout: {a: row, b: col, c: row}"), std::string::npos) << draft.yaml;
}

TEST_F(DraftOfText, ReadsNoNamesOfTheLanguageAsParameters) {
  const Draft draft =
      draft_of(write("k.cu",
                     "#include <cuda_fp16.h>\n#define HALF(x) ((x) / 2)\n"
                     "struct alignas(16) Pack { float data[4]; };\n"
                     "enum class Mode { fast, exact };\n"
                     "template <typename T, int N> __device__ T total(T (&values)[N]) {\n"
                     "  T sum{}; for (const T& each : values) sum += each; return sum; }\n"
                     "extern \"C\" __global__ void k(const float4* __restrict__ x, float* y, size_t n) {\n"
                     "  const auto [a, b] = make_pair(1, 2);\n"
                     "  float values[4] = {INFINITY, FLT_MAX, 0.f, 1e-3f}; uint32_t u = 0x1f;\n"
                     "  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;\n"
                     "  if (i >= n) return;\n"
                     "  y[i] = x[i].x + total(values) + HALF(u) + a + b + warpSize;\n}\n"));
  EXPECT_EQ(draft.parameters, 1) << draft.yaml;
  EXPECT_EQ(value(draft, "$BLOCK"), "{pow2: [64, 1024]}");
}

TEST_F(DraftOfText, ReadsInitializersOfAConstructorAsNoParameters) {
  const Draft draft = draft_of(write(
      "k.cu",
      "struct Row {\n public: Row(int n, int m) : size(n / VEC), rest(m % WIDTH) {}\n  int size, rest;\n};\n"
      "extern \"C\" __global__ void k(float* x, int n) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const Row row(n, n);\n  if (i < n) x[i] = row.size + row.rest;\n}\n"));
  EXPECT_NE(value(draft, "VEC"), "none") << draft.yaml;
  EXPECT_NE(value(draft, "WIDTH"), "none") << draft.yaml;
  for (const char* name : {"n", "m", "size", "rest"}) EXPECT_EQ(value(draft, name), "none") << draft.yaml;
}

TEST_F(DraftOfText, TakesTheNumberOfAPragmaInAMacroForAParameterAlone) {
  const Draft draft = draft_of(write("k.cpp",
                                     "#define TEXT(x) #x\n#define PRAGMA(x) _Pragma(TEXT(x))\n"
                                     "extern \"C\" void k(float* x, int n) {\n  PRAGMA(GCC unroll UNROLL)\n"
                                     "  for (int i = 0; i < n; ++i) x[i] = 1;\n}\n"));
  EXPECT_NE(value(draft, "UNROLL"), "none") << draft.yaml;
  for (const char* word : {"GCC", "unroll"}) EXPECT_EQ(value(draft, word), "none") << draft.yaml;
}

TEST_F(DraftOfText, ReadsNumbersAsCDoes) {
  const Draft draft =
      draft_of(write("k.cpp",
                     "constexpr int kMost = 0x80;\nstatic_assert(A <= kMost && A < 32'768u, \"room\");\n"
                     "#ifndef B\n#define B (1 << 3)\n#endif\n#ifndef C\n#define C (32)\n#endif\n"
                     "#ifndef D\n#define D 9223372036854775806\n#endif\n"
                     "extern \"C\" void k(float* x, int n) { for (int i = 0; i < n; i += A) x[i] = C + D; }\n"));
  EXPECT_NE(draft.yaml.find("  - A <= 128 and A < 32768  # room\n"), std::string::npos) << draft.yaml;
  EXPECT_EQ(value(draft, "C"), "[16, 32, 64]");
  EXPECT_EQ(value(draft, "D"), "[9223372036854775806]") << "twice as much is no number";
  EXPECT_EQ(
      value(draft_of(write("u.cpp",
                           "#ifndef A\n#define A 0x40u\n#endif\n"
                           "extern \"C\" void k(float* x, int n) { for (int i = 0; i < n; i += A) x[i] = 1; }\n")),
            "A"),
      "[32, 64, 128]");
}

TEST_F(DraftOfText, TellsASwitchThatIsOnFromANumber) {
  const Draft draft = draft_of(write(
      "k.cpp",
      "#ifndef VEC\n#define VEC 1\n#endif\n#ifndef FAST\n#define FAST 1\n#endif\n#ifndef LOG\n#define LOG 1\n#endif\n"
      "#if LOG\n#endif\n"
      "extern \"C\" void k(float* x, int n) { for (int i = 0; i < n; i += 8 * VEC) if (FAST) x[i] = 1; }\n"));
  EXPECT_EQ(value(draft, "VEC"), "[1, 2, 4]") << "a step of 0 would never end";
  EXPECT_EQ(value(draft, "FAST"), "[0, 1]");
  EXPECT_EQ(value(draft, "LOG"), "[0, 1]");
}

TEST_F(DraftOfText, TakesTheNumbersThatTheCodeComparesAParameterWith) {
  const Draft draft = draft_of(
      write("k.cpp",
            "#ifndef ROUNDS\n#define ROUNDS 4\n#endif\n#if WAY == 0\n#elif WAY == 3\n#endif\n"
            "extern \"C\" void k(float* x, int n) {\n  if constexpr (EXACT == 2) x[0] = 1;\n  if (WAY != 5) x[0] = 2;\n"
            "  static_assert(ONE == 64, \"\");\n  if (TWICE == 2 * n) x[0] = ONE;\n"
            "  for (int i = ROUNDS == 8 ? 1 : 0; i < n; ++i) x[i] = MIX == 3 ? MIX : 1;\n}\n"));
  EXPECT_EQ(value(draft, "WAY"), "[0, 3, 5]");
  EXPECT_EQ(value(draft, "EXACT"), "[0, 2]") << "one that it is, and another";
  EXPECT_EQ(value(draft, "ROUNDS"), "[4, 8]") << "that of the source is among them";
  EXPECT_EQ(value(draft, "MIX"), "[1, 2, 4, 8]") << "it is a number, too";
  EXPECT_NE(value(draft, "ONE"), "[0, 64]") << "that the assertion excludes";
  EXPECT_NE(value(draft, "TWICE"), "[0, 2]") << "which it is not compared with";
}

TEST_F(DraftOfText, TakesWhatOpenMpIsToldForACountOfThreads) {
  const Draft draft =
      draft_of(write("k.cpp",
                     "extern \"C\" void k(float* x, int n, int nt) {\n#pragma omp parallel for num_threads(nt)\n"
                     "  for (int i = 0; i < n; i += STEP) x[i] = 1;\n}\n"));
  EXPECT_NE(draft.yaml.find("sizes: {n: "), std::string::npos) << draft.yaml;
  EXPECT_NE(draft.yaml.find("args: [x, n, THREADS]"), std::string::npos) << draft.yaml;
  EXPECT_EQ(draft.yaml.find(" nt: "), std::string::npos) << draft.yaml;
}

TEST_F(DraftOfText, KnowsWhichConstantsAndKernelsAreMeant) {
  const std::string first =
      "extern \"C\" __global__ void first(float* x, int n) {\n  constexpr int tile = 128;\n"
      "  int i = blockIdx.x * tile + threadIdx.x; if (i < n) x[i] = A;\n}\n";
  const std::string second =
      "extern \"C\" __global__ void second(float* x, int n) {\n  constexpr int tile = 4 * A;\n"
      "  int i = blockIdx.x * tile + threadIdx.x; if (i < n) x[i] = A;\n}\n";
  const Draft draft = draft_of(write("k.cu", first + second), 1);
  EXPECT_EQ(value(draft, "grid"), "[\"ceil_div(n, 4*A)\"]");
  EXPECT_EQ(draft.yaml.find("kernel: first"), std::string::npos) << "it has parameters itself: " << draft.yaml;
}

TEST_F(DraftOfText, LeavesOutCodeOfTheHost) {
  const std::string kernel =
      "extern \"C\" __global__ void k(float* x, int n) {\n  extern __shared__ float sums[];\n"
      "  for (int i = threadIdx.x; i < n; i += BLOCK) sums[threadIdx.x] += x[i];\n"
      "  if (n < 0) goto done;\n  x[blockIdx.x] = sums[0];\ndone:;\n}\n";
  const std::string host =
      "int main() {\n  k<<<1, 2>>>(nullptr, 3);\n  std::cout << R\"(one \" two)\" << endl;\n"
      "  try { run(); } catch (...) { return EXIT_FAILURE; }\n  return EXIT_SUCCESS;\n}\n";
  for (const std::string& text :
       {kernel + host,
        kernel + "#ifndef __CUDACC_RTC__\n#include <iostream>\nint helper = UNKNOWN;\n" + host + "#endif\n"}) {
    const fs::path file = write("k.cu", text);
    const Draft draft = draft_of(file);
    EXPECT_EQ(draft.parameters, 1) << draft.yaml;
    EXPECT_EQ(value(draft, "shared"), "4*BLOCK") << draft.yaml;
    EXPECT_EQ(read_kernel_source(file, true).line_of_host_code,
              text.find("__CUDACC_RTC__") == std::string::npos ? 8 : 0);
  }
}

TEST_F(DraftOfText, TakesNoVariableOfAnUnnamedTypeForAParameter) {
  const Draft draft =
      draft_of(write("k.cpp",
                     "static struct { int a, b; } pair, *other;\nenum { one, two } which = one;\n"
                     "extern \"C\" void k(float* x, int n) {\n  union { int i; float f; } u;\n"
                     "  for (u.i = 0; u.i < n; u.i += STEP) x[u.i] += pair.a + other->b + which;\n}\n"));
  EXPECT_EQ(draft.parameters, 1);
}

TEST_F(DraftOfText, LeavesOutWhatNoBuildCompiles) {
  const std::string kernel = "extern \"C\" void k(float* x, int n) {\n  for (int i = 0; i < n; ++i) x[i] += KEPT;\n}\n",
                    dead = "#ifndef OLD\n#define OLD 8\n#else\nint b = B;\n#endif\nint a = OLD * A;\n",
                    live = "int c = C;\n";
  const auto parameters = [&](const std::string& text) { return draft_of(write("k.cpp", text + kernel)).parameters; };
  for (const std::string& disabled :
       {"#if 0\n" + dead + "#endif\n", "#if 1\n#else\n" + dead + "#endif\n", "#ifdef _WIN32\n" + dead + "#endif\n",
        "#if defined(_MSC_VER)\n" + dead + "#endif\n", "#ifndef __APPLE__\n#else\n" + dead + "#endif\n"})
    EXPECT_EQ(parameters(disabled), 1) << disabled;
  for (const std::string& partly :
       {"#if 0\n" + dead + "#else\n" + live + "#endif\n", "#if 1\n" + live + "#else\n" + dead + "#endif\n",
        "#if 1\n" + live + "#elif 1\n" + dead + "#endif\n", "#if defined(_WIN32) || C\n#endif\n" + live,
        "#if 0\n" + dead + "#endif\n#ifdef _OPENMP\n" + live + "#endif\n",
        "#if 0\n" + dead + "#elif 1\n" + live + "#else\n" + dead + "#endif\n",
        "#if 0\n" + dead + "#elifdef _OPENMP\n" + live + "#endif\n",
        "#if 0\n#if 1\n" + dead + "#endif\n" + dead + "#endif\n" + live})
    EXPECT_EQ(parameters(partly), 2) << partly;
}

TEST_F(DraftOfText, TrustsASpecThatTheConstraintsLeave) {
  const Draft draft = draft_of(write("k.cu",
                                     "static_assert(BM >= 64 && BM % (8 * U) == 0, \"whole\");\n"
                                     "extern \"C\" __global__ void k(float* x, int n) {\n"
                                     "  int i = blockIdx.x * BM + threadIdx.x; if (i < n) x[i] = U;\n}\n"));
  EXPECT_NE(draft.yaml.find("reference: {spec: {BM: 64, U: 1}}"), std::string::npos) << draft.yaml;
}

TEST_F(DraftOfText, TakesASimpleFunctionThatNeedNotKnowTheThreadsForTheReference) {
  const auto draft_with = [&](const std::string& arguments) {
    return draft_of(write("k.cpp",
                          "extern \"C\" void soft(const float* x, float* y, int n, int threads) {\n"
                          "  for (int i = 0; i < n; ++i) y[i] = LANES * x[i];\n}\n"
                          "extern \"C\" void soft_ref(" +
                              arguments + ") {\n  for (int i = 0; i < n; ++i) y[i] = x[i];\n}\n"))
        .yaml;
  };
  const std::string all = draft_with("const float* x, float* y, int n, int threads"),
                    without_threads = draft_with("float* y, const float* x, int n"),
                    others = draft_with("const float* x, float* y, int n, int stride");
  EXPECT_NE(all.find("reference: {kernel: soft_ref, args: [x, y, n, 1]}"), std::string::npos) << all;
  EXPECT_NE(without_threads.find("reference: {kernel: soft_ref, args: [y, x, n]}"), std::string::npos)
      << without_threads;
  EXPECT_NE(others.find("this spec is right; surer is a simple extern \"C\" function with the arguments x, y, n; "
                        "soft_ref has others\n"),
            std::string::npos)
      << others;
}

TEST_F(DraftOfText, RefusesArgumentsThatNoTuningFileGives) {
  const auto refusal = [&](const std::string& arguments) -> std::string {
    try {
      return draft_of(write("k.cpp", "extern \"C\" void k(" + arguments + ") {}\n")).yaml;
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("float* x, int"), "k.cpp:1: an argument of k has no name; give it one");
  EXPECT_EQ(refusal("float* x, const int& n"),
            "k.cpp:1: the argument n is a reference, and a kernel is called with pointers and numbers");
  EXPECT_EQ(refusal("const std::int64_t* x, int n"),
            "k.cpp:1: the elements of x are of type 'std::int64_t', which tuning files have no type for");
  EXPECT_EQ(refusal("void").find("k.cpp:1: k has no pointer among its arguments"), 0u);
  EXPECT_NE(refusal("const double A[N][N], double y[N], int n").find("{name: A, type: f64"), std::string::npos);
}

TEST_F(DraftOfText, NamesAnArgumentThatCannotBePassed) {
  const fs::path file = write("k.cpp", "extern \"C\" void k(float* x,\n    Options options) { x[0] = options.a; }\n");
  try {
    draft_of(file);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what())
                  .find("k.cpp:2: the argument options is of type 'Options', which a tuning file "
                        "cannot pass"),
              0u)
        << error.what();
  }
}

// Half of a source is read as far as it goes: none of its ends is one too many.
TEST_F(DraftOfText, OfABrokenSourceEndsWithoutAFault) {
  int drafts = 0;
  for (const auto& entry : fs::directory_iterator(kKernels)) {
    const std::string text = platform::read_file(entry.path());
    for (std::size_t length = 0; length < text.size(); length += 31) {
      for (const std::string& end : {std::string(), std::string("}"), std::string(")))};")}) {
        const fs::path file = write("k" + entry.path().extension().string(), text.substr(0, length) + end);
        const KernelSource source = read_kernel_source(file, is_gpu_source(file));
        for (const Kernel& kernel : source.kernels) try {
            drafts += draft_tuning_file(source, kernel, {"k", "k", is_gpu_source(file)}).yaml.empty() ? 0 : 1;
          } catch (const Error&) {
          }
      }
    }
  }
  EXPECT_GT(drafts, 100);
}

}  // namespace
}  // namespace tune::commands::draft_test
