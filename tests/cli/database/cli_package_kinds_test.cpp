// What `tune package` makes of products with scales, epilogues and groups of rows: its test finds them right, and finds
// what is wrong in kernels that are changed.
#include <gtest/gtest.h>

#include <tuple>

#include "support/has.h"
#include "support/package_test.h"

namespace tune::cli::cli_package_kinds_test {
namespace {

class PackageKinds : public PackageTest {
 protected:
  /// A package of one size of a product: `problem` is its YAML, `args` what follows n and k among the arguments.
  Result make(const std::string& problem, const std::string& args, const std::string& kernel, int code = 0) const {
    sandbox_.write("k.cpp", kernel);
    sandbox_.write("k.yaml", "name: kind\nfile: k.cpp\nkernel: gemm\nbackend: cpu\nproblem: {gemm: {" + problem +
                                 "}}\nparams: {$X: 1}\nlaunch: {args: [A, B, C, n, k, " + args +
                                 "]}\nbuild: {defines: [epilogue]}\nmeasure: {max_seconds: 0.02}\n");
    tune({"k.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
    tune({"merge", "best.yaml", "-o", "db.yaml"});
    return pack("kind", code);
  }
  std::string tested() const { return selftest("kind"); }
  /// The same, with a kernel that was changed.
  std::string tested_with(const std::string& from, const std::string& to) const {
    const std::string right = sandbox_.read("kind/kernel/k.cpp");
    sandbox_.write("kind/kernel/k.cpp", replaced(right, from, to));
    std::string said = tested();
    sandbox_.write("kind/kernel/k.cpp", right);
    return said;
  }
  static void expect_right(const std::string& said, const std::string& misses) {
    EXPECT_TRUE(has(said, " 0 wrong; " + misses + " sizes have nothing that is valid\n")) << said;
    EXPECT_TRUE(said.ends_with("code 0")) << said;
  }
};

/// e4m3 as a float, for the kernels here, which include nothing: they are compiled again and again.
constexpr const char* kValue = R"(static float value(unsigned char bits) {
  const int exponent = bits >> 3 & 15, digits = bits & 7;
  const float x = exponent > 0 ? __builtin_ldexpf(8.f + digits, exponent - 10) : __builtin_ldexpf(1.f * digits, -9);
  return bits >= 128 ? -x : x;
}
)";

// Scales of blocks whose borders are in the middle of the matrices.
TEST_F(PackageKinds, MultiplyWithScales) {
  make("m: 5, n: 150, k: 300, a: e4m3, b: e4m3, c: f32, layout: {b: col}, scale_a: 1x128, scale_b: 128x128",
       "m, scale_a, ld_scale_a, scale_b, ld_scale_b", std::string(kValue) + R"(
extern "C" void gemm(const unsigned char* A, const unsigned char* B, float* C, int n, int k, int m, const float* of_a, int ld_a,
                     const float* of_b, int ld_b) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p)
        sum += value(A[i * k + p]) * of_a[p / 128 * ld_a + i] * (value(B[j * k + p]) * of_b[j / 128 * ld_b + p / 128]);
      C[i * n + j] = sum;
    }
}
)");
  EXPECT_TRUE(has(sandbox_.read("kind/README.md"), "run({m, n, k}, stream, {A, B, C, scale_a, scale_b})"));
  EXPECT_TRUE(has(sandbox_.read("kind/include/tuned_kind.h"),
                  "  const void* scale_a = nullptr;  ///< f32, for each 128 of k one for each of the m rows of A\n"));
  expect_right(tested(), "1");
  for (const char* wrong : {"of_a[p / 128 * ld_a]", "of_a[i]", "of_a[(p + 1) / 128 * ld_a + i]"})
    EXPECT_TRUE(has(tested_with("of_a[p / 128 * ld_a + i]", wrong), "WRONG m=5 n=150 k=300: C[")) << wrong;
  EXPECT_TRUE(has(tested_with("of_b[j / 128 * ld_b", "of_b[(j + 1) / 128 * ld_b"), "WRONG m=5 n=150 k=300: C["));
}

TEST_F(PackageKinds, MultiplyWithAnEpilogue) {
  make(
      "m: 9, n: 24, k: 64, layout: {b: col}, bias: row, epilogue: swiglu, residual: true", "m, bias, residual",
      R"(extern "C" void gemm(const float* A, const float* B, float* C, int n, int k, int m, const float* bias, const float* residual) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float gate = bias[j], up = bias[n + j];
      for (int p = 0; p < k; ++p) gate += A[i * k + p] * B[j * k + p], up += A[i * k + p] * B[(n + j) * k + p];
      C[i * n + j] = gate / (1 + __builtin_expf(-gate)) * up + residual[i * n + j];
    }
}
)");
  EXPECT_TRUE(has(sandbox_.read("kind/README.md"), "stream, {A, B, C, bias, residual})"));
  for (const char* described :
       {"B = nullptr;  ///< f32, k x 2n by columns\n", "bias = nullptr;  ///< f32, one for each of the 2n columns\n"})
    EXPECT_TRUE(has(sandbox_.read("kind/include/tuned_kind.h"), described));
  expect_right(tested(), "1");
  for (const auto& [from, to] : {std::pair("gate / (1 + __builtin_expf(-gate))", "(gate > 0 ? gate : 0)"),
                                 {"+ residual[i * n + j]", ""},
                                 {"up = bias[n + j]", "up = bias[j]"},
                                 {"B[(n + j) * k + p]", "B[j * k + p]"}})
    EXPECT_TRUE(has(tested_with(from, to), "WRONG m=9 n=24 k=64: C[")) << to;
}

// Rows are listed for the entry, and drawn for sizes beside it, of which m is told by the groups.
TEST_F(PackageKinds, MultiplyGroupsOfRows) {
  make("n: 24, k: 40, layout: {b: col}, groups: [3, 0, 7, 1, 0]", "group_offsets, groups",
       R"(extern "C" void gemm(const float* A, const float* B, float* C, int n, int k, const int* offsets, int groups) {
  for (int group = 0; group < groups; ++group)
    for (int i = offsets[group]; i < offsets[group + 1]; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[(group * n + j) * k + p];
        C[i * n + j] = sum;
      }
}
)");
  EXPECT_TRUE(has(sandbox_.read("kind/README.md"), "run({m, n, k, groups}, stream, {A, B, C, group_offsets})"));
  expect_right(tested(), "1");
  for (const auto& [from, to] : {std::pair("(group * n + j)", "((group + 1) % groups * n + j)"),
                                 {"i < offsets[group + 1]; ++i", "i < offsets[group + 1] - 1; ++i"}})
    EXPECT_TRUE(has(tested_with(from, to), "WRONG m=11 n=24 k=40 groups=5: ")) << to;
}

// The scales of a matrix of B begin behind those of the groups before it.
TEST_F(PackageKinds, MultiplyGroupsOfRowsWithScales) {
  make("n: 150, k: 300, a: e4m3, b: e4m3, c: f32, layout: {b: col}, scale_a: row, scale_b: 128x128, groups: [3, 0, 4]",
       "group_offsets, groups, scale_a, scale_b, ld_scale_b", std::string(kValue) + R"(
extern "C" void gemm(const unsigned char* A, const unsigned char* B, float* C, int n, int k, const int* offsets, int groups,
                     const float* of_a, const float* of_b, int ld_b) {
  for (int group = 0; group < groups; ++group)
    for (int i = offsets[group]; i < offsets[group + 1]; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p)
          sum += value(A[i * k + p]) * (value(B[(group * n + j) * k + p]) *
                                        of_b[(group * ((n + 127) / 128) + j / 128) * ld_b + p / 128]);
        C[i * n + j] = of_a[i] * sum;
      }
}
)");
  EXPECT_TRUE(has(sandbox_.read("kind/README.md"),
                  "run({m, n, k, groups}, stream, {A, B, C, scale_a, scale_b, group_offsets})"));
  EXPECT_TRUE(
      has(sandbox_.read("kind/include/tuned_kind.h"),
          "f32, for each 128 of the n columns of B one for each 128 of k, padded to a multiple of 4, for one group "
          "after the other\n"));
  expect_right(tested(), "1");
  for (const auto& [from, to] : {std::pair("group * ((n + 127) / 128) + j / 128", "j / 128"),
                                 {"of_a[i]", "of_a[i - offsets[group]]"},
                                 {"* ld_b + p / 128]", "* ld_b]"}})
    EXPECT_TRUE(has(tested_with(from, to), "WRONG m=7 n=150 k=300 groups=3: C[")) << to;
}

constexpr const char* kGroupsWithRoom = R"(extern "C" void gemm(const float* A, const float* B, float* C, int n, int k,
                     const int* rows, int groups, int max_rows) {
  for (int group = 0; group < groups; ++group)
    for (int i = group * max_rows; i < group * max_rows + rows[group]; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[(group * n + j) * k + p];
        C[i * n + j] = sum;
      }
}
)";

TEST_F(PackageKinds, MultiplyGroupsWithRoomForMoreRows) {
  make("n: 24, k: 40, layout: {b: col}, groups: [3, 0, 7], max_rows: 8", "group_rows, groups, max_rows",
       kGroupsWithRoom);
  EXPECT_TRUE(has(sandbox_.read("kind/README.md"), "run({m, n, k, groups, max_rows}, stream, {A, B, C, group_rows})"));
  const std::string header = sandbox_.read("kind/include/tuned_kind.h");
  for (const char* described :
       {"m;  ///< the sum of group_rows, or more where the host does not know it\n",
        "max_rows;  ///< rows of A and C that each group has room for\n",
        "C = nullptr;  ///< f32, groups * max_rows x n by rows, of which those of group e begin at row e * max_rows; "
        "what lies behind them stays as it is\n",
        "group_rows = nullptr;  ///< int32, how many rows each group has: from 0 to max_rows\n"})
    EXPECT_TRUE(has(header, described)) << header;
  expect_right(tested(), "1");
  const std::string last = "i < group * max_rows + rows[group]";
  for (const auto& [from, to, said] :
       {std::tuple(last, std::string("i < (group + 1) * max_rows"), "C or behind those of a group was written"),
        {last, last + " - 1", "an element of C is no number"},
        {"i = group * max_rows", "i = group * 8", "WRONG m=10 n=24 k=40 groups=3 max_rows=9: "},
        {"(group * n + j)", "((group + 1) % groups * n + j)", "WRONG m=10 n=24 k=40 groups=3 max_rows=8: C["}})
    EXPECT_TRUE(has(tested_with(from, to), said)) << to;
}

/// Rows of tiles may lie behind those of a group, where the problem has it so.
TEST_F(PackageKinds, MayWriteTheRoomOfGroups) {
  make("n: 24, k: 40, layout: {b: col}, groups: [3, 0, 7], max_rows: 8, padding: any", "group_rows, groups, max_rows",
       replaced(kGroupsWithRoom, "+ rows[group]; ++i",
                "+ (rows[group] + 3) / 4 * 4 && i < (group + 1) * max_rows; ++i"));
  EXPECT_TRUE(has(sandbox_.read("kind/include/tuned_kind.h"), "; what lies behind them may be written\n"));
  expect_right(tested(), "1");
  EXPECT_TRUE(has(tested_with("(rows[group] + 3) / 4 * 4", "(rows[group] / 4 * 4)"), "an element of C is no number"));
}

// Room has scales of A, too.
TEST_F(PackageKinds, MultiplyGroupsWithRoomAndScales) {
  make(
      "n: 150, k: 300, a: e4m3, b: e4m3, c: f32, layout: {b: col}, scale_a: 1x128, scale_b: col, groups: [3, 0, 4], "
      "max_rows: 5",
      "group_rows, groups, max_rows, scale_a, ld_scale_a, scale_b", std::string(kValue) + R"(
extern "C" void gemm(const unsigned char* A, const unsigned char* B, float* C, int n, int k, const int* rows, int groups,
                     int max_rows, const float* of_a, int ld_a, const float* of_b) {
  for (int group = 0; group < groups; ++group)
    for (int i = group * max_rows; i < group * max_rows + rows[group]; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p)
          sum += value(A[i * k + p]) * of_a[p / 128 * ld_a + i] * value(B[(group * n + j) * k + p]);
        C[i * n + j] = of_b[group * n + j] * sum;
      }
}
)");
  EXPECT_TRUE(has(sandbox_.read("kind/include/tuned_kind.h"),
                  "f32, for each 128 of k one for each of the groups * max_rows rows of A\n"));
  expect_right(tested(), "1");
  for (const auto& [from, to] :
       {std::pair("* ld_a + i]", "* 7 + i]"), {"of_b[group * n + j]", "of_b[j]"}, {"* ld_a + i]", "* ld_a + i / 5]"}})
    EXPECT_TRUE(has(tested_with(from, to), "WRONG m=7 n=150 k=300 groups=3 max_rows=5: C[")) << to;
}

/// The kernel of the repository, and what a program is told that passes something wrong.
TEST_F(PackageKinds, AProgramMultipliesGroupsWithRoom) {
  const std::string yaml = TUNE_SOURCE_DIR "/configs/gemm_grouped_cpu.yaml";
  Words words = {yaml, "--tune", "--no-finals", "--quiet", "--output", "best"};
  for (const char* param : {"MR:2", "NR:16", "MC:12", "NC:128", "KC:256", "THREADS:1"})
    words.insert(words.end(), {"--param", param});
  for (const char* problem : {"m=9", "n=24", "k=40", "groups=4", "routing=zipf 1.2", "max_rows=8"})
    words.insert(words.end(), {"--problem", problem});
  tune(words);
  tune({"merge", "best.yaml", "-o", "db.yaml"});
  tune({"package", "db.yaml", "--yaml", yaml, "-o", "experts"});
  sandbox_.write("app.cpp", R"(#include <cstdio>
#include <initializer_list>
#include "tuned_experts.h"
namespace experts = tuned::experts;
alignas(16) float A[32 * 40], B[4 * 24 * 40], C[32 * 24];
alignas(16) int rows[4] = {2, 0, 6, 1};
int main() {
  for (int i = 0; i < 32 * 40; ++i) A[i] = static_cast<float>(i % 5);
  for (int i = 0; i < 4 * 24 * 40; ++i) B[i] = static_cast<float>(i % 7);
  for (float& each : C) each = -1;
  const auto run = [](const experts::Sizes& sizes) {
    std::puts(experts::text(experts::run(sizes, nullptr, {A, B, C, rows})));
  };
  run({9, 24, 40, 4, 8});
  int right = 0, kept = 0;
  for (int row = 0; row < 32; ++row)
    for (int column = 0; column < 24; ++column) {
      float sum = 0;
      for (int p = 0; p < 40; ++p) sum += A[row * 40 + p] * B[(row / 8 * 24 + column) * 40 + p];
      (row % 8 < rows[row / 8] ? right : kept) += C[row * 24 + column] == (row % 8 < rows[row / 8] ? sum : -1);
    }
  std::printf("%d right, %d kept\n", right, kept);
  run({32, 24, 40, 4, 8});
  run({8, 24, 40, 4, 8});
  rows[2] = 9;
  run({32, 24, 40, 4, 8});
  rows[2] = -1;
  run({9, 24, 40, 4, 8});
  for (const experts::Sizes& sizes : {experts::Sizes{33, 24, 40, 4, 8}, {9, 24, 40, 4}, {9, 24, 40, 4, 8, 41}})
    std::puts(experts::find(sizes).why);
}
)");
  sandbox_.write("CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.18)\nproject(app LANGUAGES CXX)\nadd_subdirectory(experts)\n"
                 "add_executable(app app.cpp)\ntarget_link_libraries(app PRIVATE tuned::experts)\n");
  const std::string built = shell("cmake -S . -B all -DCMAKE_BUILD_TYPE=Release && cmake --build all -j2 --target app");
  ASSERT_TRUE(has(built, "code 0")) << built;
  const std::string wrong = "group_rows has a number below 0 or above max_rows, or more rows than m in all\n";
  EXPECT_EQ(shell("all/app"), "ok\n216 right, 552 kept\nok\n" + wrong + wrong + wrong +
                                  "m is more than groups * max_rows\nmax_rows is less than 1\n"
                                  "the kernel has no distances between rows\ncode 0");
  expect_right(selftest("experts"), "1");
}

}  // namespace
}  // namespace tune::cli::cli_package_kinds_test
