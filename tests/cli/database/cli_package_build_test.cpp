// What `tune package` writes, built as its users build it, without tune and its folders.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_package_build_test {
namespace {

using Words = std::vector<std::string>;

// Multiplies ROWS rows at a time. Where STEP is not half of them it does so twenty times, so that m=2 gets STEP=1, and
// m=4 STEP=2.
constexpr const char* kKernel = R"(#include "once.h"
extern "C" void gemm(const float* A, const float* B, float* C, void* space, int m, int n, int k, int step) {
  auto* const sums = static_cast<float*>(space);
  for (int again = 0; again < (step == ROWS / 2 ? kOnce : 20); ++again)
    for (int top = 0; top < m; top += ROWS)
      for (int i = top; i < top + ROWS && i < m; ++i) {
        for (int j = 0; j < n; ++j) sums[j] = 0;
        for (int p = 0; p < k; ++p)
          for (int j = 0; j < n; ++j) sums[j] += A[i * k + p] * B[p * n + j];
        for (int j = 0; j < n; ++j) C[i * n + j] = sums[j];
      }
}
)";
constexpr const char* kYaml = R"yaml(name: rows
file: k.cpp
kernel: gemm
backend: cpu
problem: {gemm: {m: 2, n: 16, k: 16}}
params: {$STEP: [1, 2]}
let: {ROWS: "min(m, 4)"}
constraints:
  - {if: m <= 8, because: only eight rows are multiplied}
launch: {args: [A, B, C, workspace, m, n, k, STEP], workspace: 4*n}
measure: {max_seconds: 0.02}
build: {include: [inc]}
)yaml";

class PackageBuild : public testing::Test {
 protected:
  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    return text.replace(text.find(from), from.size(), to);
  }
  /// A database of m=2 and m=4, each with a binary of its own, and a rule.
  void make_database(const std::string& yaml = kYaml) const {
    sandbox_.write("k.cpp", kKernel);
    sandbox_.write("inc/once.h", "constexpr int kOnce = 1;\n");
    sandbox_.write("k.yaml", yaml);
    sandbox_.write("sizes.yaml", "- {M: 2, N: 16, K: 16}\n- {M: 4, N: 16, K: 16}\n");
    tune({"k.yaml", "--shapes", "sizes.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
    tune({"merge", "best.db.yaml", "-o", "db.yaml"});
    tune({"cover", "db.yaml", "best.jsonl", "--slowdown", "2"});
  }
  Result pack(const std::string& folder, int code = 0) const {
    return tune({"package", "db.yaml", "--yaml", "k.yaml", "-o", folder}, code);
  }
  /// What a command of the shell prints in an environment without tune and HOME, with `code N` at its end.
  std::string shell(const std::string& command) const {
    const std::string script = sandbox_.write("command.sh", command + "\n").string();
    const std::string line = "cd '" + sandbox_.folder().string() +
                             "' && env -i PATH=/usr/bin:/bin HOME=/nonexistent sh '" + script + "' > said 2>&1";
    const int status = std::system(line.c_str());
    return sandbox_.read("said") + "code " + std::to_string(WEXITSTATUS(status));
  }

  Sandbox sandbox_;
};

// The folder's name is no identifier.
TEST_F(PackageBuild, AProgramMultipliesWithWhatItIsLinkedTo) {
  make_database();
  pack("9-rows.of 4");
  sandbox_.write("app.cpp", R"(#include <cstdio>
#include <initializer_list>
#include "tuned__9_rows_of_4.h"
namespace rows = tuned::_9_rows_of_4;
alignas(16) float A[144], B[256], C[144], space[16];
int main() {
  for (int i = 0; i < 256; ++i) A[i % 144] = static_cast<float>(i % 5), B[i] = static_cast<float>(i % 3);
  for (const int m : {2, 4, 5, 3, 9}) {
    const rows::Error error = rows::run({m, 16, 16}, nullptr, {A, B, C});
    int right = 0;
    for (int at = 0; at < 144; ++at) {
      float sum = 0;
      for (int p = 0; p < 16; ++p) sum += A[at / 16 * 16 + p] * B[p * 16 + at % 16];
      right += C[at] == sum, C[at] = -1;
    }
    const rows::Plan plan = rows::find({m, 16, 16});
    std::printf("%d: %d, %d right, entry %d; %s\n", m, static_cast<int>(error), right, plan.entry, plan.why);
  }
  const rows::Plan plan = rows::find({2, 16, 16});
  for (const unsigned bytes : {63u, 64u}) std::puts(rows::text(rows::launch(plan, nullptr, {A, B, C}, space, bytes)));
  std::puts(rows::text(rows::launch(plan, nullptr, {A, B + 1, C}, space, sizeof space)));
  const rows::Counters n = rows::counters();
  std::printf("%d %d %d %d, %d %d\n", int(n.exact), int(n.rule), int(n.miss), int(n.failed), int(rows::hits(0)),
              int(rows::hits(1)));
}
)");
  sandbox_.write("CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.18)\nproject(app LANGUAGES CXX)\nadd_subdirectory(\"9-rows.of 4\")\n"
                 "add_executable(app app.cpp)\ntarget_link_libraries(app PRIVATE tuned::_9_rows_of_4)\n");
  const std::string built = shell("cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build -j2");
  ASSERT_TRUE(has(built, "code 0"));
  EXPECT_EQ(shell("build/app"),
            "2: 0, 32 right, entry 0; \n"
            "4: 0, 64 right, entry 1; \n"
            "5: 0, 80 right, entry 1; these sizes were not tuned\n"
            "3: 1, 0 right, entry -1; ROWS is compiled in as 4\n"
            "9: 1, 0 right, entry -1; only eight rows are multiplied\n"
            "the workspace is smaller than Plan::workspace\n"
            "ok\n"
            "an operand or the workspace does not start at a multiple of 16 bytes\n"
            "3 1 2 2, 2 2\n"
            "code 0");
}

TEST_F(PackageBuild, NamesAndTextsOfUsersStayNamesAndTexts) {
  std::string yaml = replaced(kYaml, "let: {", "let: {for: \"m + (HOW == 'x')\", class: 2*m, ");
  yaml = replaced(yaml, "{$STEP: [1, 2]}", "{$STEP: [1, 2], $HOW: '\"*/ \\ )\" $<1:x> @SIZES@'}");
  yaml = replaced(yaml, "m <= 8, because: only eight rows are multiplied",
                  "for <= 8 and class <= 16, because: \"\\\" */ \\n#error\\n ) \\\\ )\\\" ?\?/ @SIZES@\"");
  make_database(yaml);
  pack("std");
  EXPECT_EQ(shell("for file in table find cpu; do c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -Istd/include "
                  "std/src/$file.cpp || exit; done"),
            "code 0");
  sandbox_.write("use.cpp", "#include \"tuned_std_.h\"\ntuned::std_::Plan plan;\n");
  EXPECT_EQ(shell("c++ -std=c++17 -fsyntax-only -Istd/include use.cpp"), "code 0");
}

// CMake leaves out what a list of flags has twice, and a static library gives what those before it lack.
TEST_F(PackageBuild, FlagsAndLibrariesAreThoseOfTheKernel) {
  sandbox_.write("twice.cpp", "float twice(float x) { return x + x; }\n");
  ASSERT_EQ(shell("c++ -O1 -fPIC -c twice.cpp && ar rc libtwice.a twice.o"), "code 0");
  sandbox_.write("k.cpp", R"(float twice(float x);
static_assert(sizeof(UNIT) == 11);
extern "C" void gemm(const float* A, const float* B, float* C) { *C = twice(*A * *B) / 2; }
)");
  sandbox_.write("k.yaml",
                 "name: one\nfile: k.cpp\nkernel: gemm\nbackend: cpu\nproblem: {gemm: {m: 1, n: 1, k: 1}}\n"
                 "params: {$X: 1}\nlaunch: {args: [A, B, C]}\nmeasure: {max_seconds: 0.02}\nbuild:\n  flags: [-L" +
                     sandbox_.folder().string() +
                     ", -ltwice, -include, cmath, -include, cstdlib, '-DUNIT=\"@NAME@ \\\\ b\"']\n");
  tune({"k.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
  tune({"merge", "best.yaml", "-o", "db.yaml"});
  pack("one");
  EXPECT_TRUE(has(shell("cmake -S one -B build -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,defs && cmake --build build "
                        "--target tuned_one_0"),
                  "code 0"));
}

TEST_F(PackageBuild, TheNameIsThatOfTheFolder) {
  make_database();
  for (const char* folder : {"rows/.", "rows/", "other/../rows"}) {
    pack(folder);
    EXPECT_TRUE(has(sandbox_.read("rows/manifest.json"), "\"name\": \"rows\",\n")) << folder;
  }
  // A file stays a file.
  const std::string before = sandbox_.read("k.cpp");
  EXPECT_TRUE(has(pack("k.cpp", 2).err, "k.cpp exists and is no package; name another folder\n"));
  EXPECT_EQ(sandbox_.read("k.cpp"), before);
}

}  // namespace
}  // namespace tune::cli::cli_package_build_test
