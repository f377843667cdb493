// `tune package` over the real binary: what it refuses, what it leaves alone, and what programs get of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_package_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kKernel =
    R"(extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int skip) {
  for (int i = 0; i < ROWS && i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum + static_cast<float>(skip - STEP);
    }
}
)";
constexpr const char* kYaml = R"yaml(name: rows
file: k.cpp
kernel: gemm
backend: cpu
problem: {gemm: {m: 2, n: 16, k: 16}}
params: {STEP: 1, $SKIP: 1}
let: {ROWS: "min(m, 8)"}
constraints:
  - {if: m <= 8, because: only eight rows are multiplied}
launch: {args: [A, B, C, m, n, k, SKIP]}
)yaml";

class Package : public testing::Test {
 protected:
  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }
  std::string replaced(std::string text, const std::string& from, const std::string& to) const {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    return text.replace(text.find(from), from.size(), to);
  }
  /// A database of m=2 and m=4, each with a binary of its own.
  void make_database(const std::string& yaml = kYaml, const std::string& kernel = kKernel) const {
    sandbox_.write("k.cpp", kernel);
    sandbox_.write("k.yaml", yaml);
    for (const char* m : {"2", "4"}) {
      tune({"k.yaml", "-m", m, "--tune", "--no-finals", "--quiet", "--output", std::string("best") + m});
      tune({"merge", std::string("best") + m + ".yaml", "-o", "db.yaml"});
    }
  }
  Result pack(int code = 0, const Words& more = {}) const {
    Words words = {"package", "db.yaml", "--yaml", "k.yaml", "-o", "rows"};
    words.insert(words.end(), more.begin(), more.end());
    return tune(words, code);
  }
  /// What a program of ours prints, which is built with the package.
  std::string said_by(const std::string& program, const std::string& folder = "rows") const {
    sandbox_.write("app.cpp", program);
    sandbox_.write("CMakeLists.txt",
                   "cmake_minimum_required(VERSION 3.18)\nproject(app LANGUAGES CXX)\nadd_subdirectory(" + folder +
                       ")\nadd_executable(app app.cpp)\ntarget_link_libraries(app PRIVATE tuned::" + folder + ")\n");
    const std::string line =
        "cd '" + sandbox_.folder().string() +
        "' && { env -i PATH=/usr/bin:/bin cmake -S . -B build && env -i PATH=/usr/bin:/bin cmake --build "
        "build; } > log 2>&1 && build/app > said 2>&1 || cat log > said";
    EXPECT_NE(std::system(line.c_str()), -1);
    return sandbox_.read("said");
  }

  Sandbox sandbox_;
};

// The trial that once gave 512 wrong elements of 1024: what was tuned for m=2 has two rows compiled in.
TEST_F(Package, NeverUsesABinaryForSizesItIsWrongFor) {
  make_database();
  EXPECT_TRUE(has(pack().out, "rows: 2 sizes in 2 binaries for "));
  EXPECT_EQ(said_by(R"(#include <cstdio>
#include <vector>
#include "tuned_rows.h"
namespace rows = tuned::rows;
int main() {
  std::vector<float> A(160, 1), B(256, 1), C(160);
  for (long m : {2, 4, 3, 9}) {
    const rows::Plan plan = rows::find({m, 16, 16});
    const rows::Error error = rows::launch(plan, nullptr, {A.data(), B.data(), C.data()});
    std::printf("%ld: %g, %s; %s\n", m, C[m * 16 - 1], rows::text(error), plan.why);
    C.assign(160, 0);
  }
  const rows::Error shifted = rows::run({2, 16, 16}, nullptr, {A.data(), B.data(), C.data() + 1});
  const rows::Error strided = rows::run({2, 16, 16, 1, 17}, nullptr, {A.data(), B.data(), C.data()});
  const rows::Counters counts = rows::counters();
  std::printf("%s\n%s\n%lu %lu %lu %lu, %lu %lu\n", rows::text(shifted), rows::find({2, 16, 16, 1, 17}).why, counts.exact,
              counts.rule, counts.miss, counts.failed, rows::hits(0), rows::hits(1));
  return strided == rows::Error::ok;
}
)"),
            "2: 16, ok; \n4: 16, ok; \n"
            "3: 0, nothing that was tuned is valid for these sizes on this device; Plan::why says what is in the way; "
            "ROWS is compiled in as 4\n"
            "9: 0, nothing that was tuned is valid for these sizes on this device; Plan::why says what is in the way; "
            "ROWS is compiled in as 4\n"
            "an operand or the workspace does not start at a multiple of 16 bytes\nthe kernel is not told lda\n"
            "2 0 3 1, 1 1\n");
}

TEST_F(Package, RefusesWhatIsNoLongerWhatWasTimed) {
  make_database();
  pack();
  // Other bytes than those that were timed.
  sandbox_.write("k.cpp", replaced(kKernel, "for (int i = 0; i < ROWS && i < m; ++i)",
                                   "for (int i = ROWS - 1; i >= 0; --i)\n    if (i < m)"));
  const Result changed = pack(1);
  EXPECT_TRUE(has(changed.err, "m=2 n=16 k=16: the source is not what it was when it was timed\n"));
  EXPECT_TRUE(has(changed.err, "nothing is left to be packaged; tune these sizes again\n"));
  // A comment is no other code.
  sandbox_.write("k.cpp", std::string("// A comment.\n") + kKernel);
  pack();
  // The same bytes, launched in another way.
  sandbox_.write("k.cpp", kKernel);
  sandbox_.write("k.yaml", replaced(kYaml, "k, SKIP]", "k, 2*SKIP - 1 + (0 if m == 2 else 1)]"));
  EXPECT_TRUE(has(pack(1).err, "m=4 n=16 k=16: the tuning file launches it in another way than when it was timed\n"));
  const Result partial = pack(0, {"--partial"});
  EXPECT_TRUE(has(partial.out, "rows: 1 size in 1 binary for "));
  EXPECT_TRUE(has(partial.err, "note: left out: m=4 n=16 k=16"));
  sandbox_.write("k.yaml", replaced(kYaml, "m <= 8", "m <= 3"));
  EXPECT_TRUE(has(pack(1).err, "m=4 n=16 k=16: the tuning file excludes it: only eight rows are multiplied\n"));
  sandbox_.write("k.yaml", kYaml);
  std::string database = sandbox_.read("db.yaml");
  database.erase(database.find("    artifact:"), database.find("    store_path:") - database.find("    artifact:"));
  sandbox_.write("db.yaml", database);
  EXPECT_TRUE(has(pack(1).err, "m=2 n=16 k=16: there is no hash of the binary that was timed\n"));
  sandbox_.write("k.yaml", replaced(kYaml, "name: rows", "name: other"));
  EXPECT_TRUE(has(pack(2).err, "k.yaml: this is the tuning file of 'other', and the results are of 'rows'"));
}

TEST_F(Package, LeavesAloneWhatIsNotItsOwn) {
  make_database();
  sandbox_.write("other/manifest.json", "{\"files\": {\"mine.txt\": 1}}");
  sandbox_.write("other/mine.txt", "mine");
  EXPECT_TRUE(has(tune({"package", "db.yaml", "--yaml", "k.yaml", "-o", "other"}, 2).err,
                  "other exists and is no package; name another folder\n"));
  EXPECT_EQ(sandbox_.read("other/mine.txt"), "mine");
  pack();
  sandbox_.write("rows/build/mine.txt", "mine");
  EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / "rows/src/variant_1.cpp"));
  sandbox_.write("k.yaml", replaced(kYaml, "m <= 8", "m <= 3"));
  pack(0, {"--partial"});
  EXPECT_EQ(sandbox_.read("rows/build/mine.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "rows/src/variant_1.cpp")) << "it is of the package before";
}

TEST_F(Package, RefusesAFlagThatCMakeWouldSplit) {
  make_database(std::string(kYaml) + "build: {flags: [\"-DX=a;b\"]}\n");
  EXPECT_TRUE(has(pack(2).err, "k.yaml: the flag or definition '-DX=a;b' cannot be given to CMake"));
}

TEST_F(Package, LaunchesACustomProblemWithItsChain) {
  sandbox_.write("s.cpp", R"(extern "C" void add_steps(const float* in, float* out, int count, float add) {
  for (int i = 0; i < count; ++i) out[i] = in[i] + add * STEP;
}
)");
  sandbox_.write(
      "s.yaml",
      "name: steps\nfile: s.cpp\nkernel: add_steps\nbackend: cpu\nproblem:\n  custom:\n"
      "    sizes: {register: 64, times: 5}\n    buffers:\n"
      "      - {name: in, type: f32, count: register}\n      - {name: new, type: f32, count: register, role: out}\n"
      "    reference: {kernel: add_steps, args: [in, new, register, {f32: 1}], repeat: {times: times, from: in, to: "
      "new, "
      "through: workspace}}\nparams: {STEP: 1}\n"
      "launch: {args: [in, new, register, {f32: 1}], workspace: 4*register, repeat: {times: times, from: in, to: new, "
      "through: workspace}}\n");
  tune({"s.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
  tune({"merge", "best.yaml", "-o", "db.yaml"});
  tune({"package", "db.yaml", "--yaml", "s.yaml", "-o", "steps"});
  EXPECT_EQ(said_by(R"(#include <cstdio>
#include <vector>
#include "tuned_steps.h"
int main() {
  const std::vector<float> in(64, 1);
  std::vector<float> out(64);
  for (long times : {5, 6, 1}) {
    const tuned::steps::Error error = tuned::steps::run({64, times}, nullptr, {in.data(), out.data()});
    std::printf("%g %g %s\n", out[0], out[63], tuned::steps::text(error));
  }
  const tuned::steps::Plan plan = tuned::steps::find({64, 5});
  float small[16];
  std::puts(tuned::steps::text(tuned::steps::launch(plan, nullptr, {in.data(), out.data()}, small, sizeof small)));
  return tuned::steps::Sizes{64, 5}.register_ != 64;
}
)",
                    "steps"),
            "6 6 ok\n7 7 ok\n2 2 ok\nthe workspace is smaller than Plan::workspace\n");
}

TEST_F(Package, IsMadeOfKernelsOnly) {
  sandbox_.write("db.yaml",
                 "tune_database: 1\nresults:\n  - {kernel: p, backend: program, sizes: {m: 2}, device: {name: CPU}, "
                 "params: {A: 1}, time_ms: 1}\nend: yes\n");
  sandbox_.write("k.yaml", "name: p\nrun: \"true\"\nparams: {A: 1}\n");
  EXPECT_TRUE(
      has(pack(2).err, "packages are made of kernels for cuda and the cpu so far; these results are of program"));
  EXPECT_TRUE(has(tune({"package", "db.yaml", "-o", "rows"}, 2).err, "--yaml"));
}

}  // namespace
}  // namespace tune::cli::cli_package_test
