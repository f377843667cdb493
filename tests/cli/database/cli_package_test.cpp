// `tune package` over the real binary: what it refuses, what it leaves alone, and what programs get of it that are
// built as users build theirs, without tune and its folders.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/has.h"
#include "support/package_test.h"

namespace tune::cli::cli_package_test {
namespace {

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
measure: {max_seconds: 0.02}
)yaml";

// Multiplies ROWS rows at a time. Where STEP is not half of them it does so twenty times, so that m=2 gets STEP=1, and
// m=4 STEP=2.
constexpr const char* kTiled = R"(#include "once.h"
extern "C" void gemm(const float* A, const float* B, float* C, void* space, int m, int n, int k, int step) {
  auto* const sums = static_cast<float*>(space);
  for (int again = 0; again < (step == ROWS / 2 ? kOnce : 1000); ++again)
    for (int top = 0; top < m; top += ROWS)
      for (int i = top; i < top + ROWS && i < m; ++i) {
        for (int j = 0; j < n; ++j) sums[j] = 0;
        for (int p = 0; p < k; ++p)
          for (int j = 0; j < n; ++j) sums[j] += A[i * k + p] * B[p * n + j];
        for (int j = 0; j < n; ++j) C[i * n + j] = sums[j];
      }
}
)";
constexpr const char* kTiledYaml = R"yaml(name: rows
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

class Package : public PackageTest {
 protected:
  /// A database of m=2 and m=4, each with a binary of its own.
  void make_database(const std::string& yaml = kYaml, const std::string& kernel = kKernel) const {
    sandbox_.write("k.cpp", kernel);
    sandbox_.write("k.yaml", yaml);
    for (const char* m : {"2", "4"}) {
      tune({"k.yaml", "-m", m, "--tune", "--no-finals", "--quiet", "--output", std::string("best") + m});
      tune({"merge", std::string("best") + m + ".yaml", "-o", "db.yaml"});
    }
  }
};

class PackageBuild : public PackageTest {
 protected:
  /// A database of m=2 and m=4, each with a binary of its own, and a rule.
  void make_database(const std::string& yaml = kTiledYaml) const {
    sandbox_.write("k.cpp", kTiled);
    sandbox_.write("inc/once.h", "constexpr int kOnce = 1;\n");
    sandbox_.write("k.yaml", yaml);
    sandbox_.write("sizes.yaml", "- {M: 2, N: 16, K: 16}\n- {M: 4, N: 16, K: 16}\n");
    tune({"k.yaml", "--shapes", "sizes.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
    tune({"merge", "best.db.yaml", "-o", "db.yaml"});
    tune({"cover", "db.yaml", "best.jsonl", "--slowdown", "2"});
  }
};

TEST_F(Package, ABestYamlIsItsOwnTuningFile) {
  make_database();
  const Result packed = tune({"package", "best4.yaml", "-o", "alone"});
  EXPECT_TRUE(has(packed.out, "alone: 1 size in 1 binary"));
  EXPECT_TRUE(has(packed.err, "note: the package is for this size alone; --yaml FILE")) << "it has no constraints";
  EXPECT_TRUE(has(selftest("alone"), ", 0 by rule\n"));
  EXPECT_FALSE(has(tune({"package", "best4.yaml", "--yaml", "k.yaml", "-o", "others"}).err, "note:"));
  EXPECT_TRUE(has(tune({"package", "best4.yaml", "--yaml", "best4.yaml", "-o", "named"}).err, "for this size alone"));
  EXPECT_TRUE(has(tune({"package", "db.yaml", "-o", "none"}, 2).err,
                  "db.yaml: a database does not say where the kernels of its results are; name their tuning file with "
                  "--yaml FILE"));
}

TEST_F(Package, SaysHowToTestEachOfTwoOfOneName) {
  make_database();
  for (const char* folder : {"one/k", "other/k"}) {
    const std::string said = tune({"package", "best4.yaml", "-o", folder}).out;
    const auto command = said.find("  cmake -S ");
    ASSERT_NE(command, said.npos) << said;
    EXPECT_TRUE(has(shell("{ " + said.substr(command, said.find(" && ", command) - command) + "; } 2>&1"), "code 0"));
  }
}

TEST_F(Package, RefusesWhatIsNoLongerWhatWasTimed) {
  make_database();
  pack("rows");
  // Other bytes than those that were timed.
  sandbox_.write("k.cpp", replaced(kKernel, "for (int i = 0; i < ROWS && i < m; ++i)",
                                   "for (int i = ROWS - 1; i >= 0; --i)\n    if (i < m)"));
  const Result changed = pack("rows", 1);
  EXPECT_TRUE(has(changed.err, "all 2 sizes: the source is not what it was when it was timed\n"));
  EXPECT_TRUE(has(changed.err, "nothing is left to be packaged; time what is built now, on "));
  EXPECT_TRUE(has(changed.err, ": tune retime db.yaml --yaml k.yaml -o db.yaml\n"));
  // A comment is no other code.
  sandbox_.write("k.cpp", std::string("// A comment.\n") + kKernel);
  pack("rows");
  // The same bytes, launched in another way.
  sandbox_.write("k.cpp", kKernel);
  sandbox_.write("k.yaml", replaced(kYaml, "k, SKIP]", "k, 2*SKIP - 1 + (0 if m == 2 else 1)]"));
  EXPECT_TRUE(
      has(pack("rows", 1).err, "m=4 n=16 k=16: the tuning file launches it in another way than when it was timed\n"));
  const Result partial = pack("rows", 0, {"--partial"});
  EXPECT_TRUE(has(partial.out, "rows: 1 size in 1 binary for "));
  EXPECT_TRUE(has(partial.err, "note: left out: m=4 n=16 k=16"));
  sandbox_.write("k.yaml", replaced(kYaml, "backend: cpu\n", "backend: cpu\nbuild: {flags: [-O1]}\n"));
  EXPECT_TRUE(has(pack("rows", 1).err, "than what was timed; the tuning file or its values were changed\n"));
  sandbox_.write("k.yaml", replaced(kYaml, "m <= 8", "m <= 3"));
  EXPECT_TRUE(has(pack("rows", 1).err, "m=4 n=16 k=16: the tuning file excludes it: only eight rows are multiplied\n"));
  sandbox_.write("k.yaml", kYaml);
  std::string database = sandbox_.read("db.yaml");
  database.erase(database.find("    artifact:"), database.find("    store_path:") - database.find("    artifact:"));
  sandbox_.write("db.yaml", database);
  EXPECT_TRUE(has(pack("rows", 1).err, "m=2 n=16 k=16: there is no hash of the binary that was timed\n"));
  sandbox_.write("k.yaml", replaced(kYaml, "name: rows", "name: other"));
  EXPECT_TRUE(has(pack("rows", 2).err, "k.yaml: this is the tuning file of 'other', and the results are of 'rows'"));
  sandbox_.write(
      "k.yaml",
      "name: other\nfile: k.cpp\nkernel: gemm\nproblem:\n  custom:\n    sizes: {count: 1}\n    buffers: [{name: "
      "C, type: f32, count: count, role: out}]\n    reference: {kernel: gemm, args: [C]}\nparams: {ROWS: 2}\n"
      "launch: {args: [C]}\n");
  EXPECT_TRUE(has(pack("rows", 2).err, "k.yaml: this is the tuning file of 'other', and the results are of 'rows'"))
      << "of another problem, too";
}

// What the refusal advises to type leads to a package of the present source.
TEST_F(Package, IsMadeOfWhatWasTimedAgain) {
  make_database();
  sandbox_.write("k.cpp", replaced(kKernel, "for (int i = 0; i < ROWS && i < m; ++i)",
                                   "for (int i = ROWS - 1; i >= 0; --i)\n    if (i < m)"));
  pack("rows", 1);
  sandbox_.tune({"retime", "db.yaml", "--yaml", "k.yaml", "-o", "db.yaml", "--threshold", "99%"});
  EXPECT_TRUE(has(pack("rows").out, "rows: 2 sizes in 2 binaries for "));
  sandbox_.write("k.cpp", kKernel);
  EXPECT_TRUE(has(pack("rows").out, "rows: 2 sizes in 2 binaries for ")) << "the results of this source are there too";
  sandbox_.write("k.cpp", replaced(kKernel, "= sum +", "= 1 * sum +"));
  EXPECT_TRUE(has(pack("rows", 2).err, "results of 2 versions of the driver, the compiler or the source; choose one"));
}

TEST_F(Package, LeavesAloneWhatIsNotItsOwn) {
  make_database();
  sandbox_.write("other/manifest.json", "{\"files\": {\"mine.txt\": 1}}");
  sandbox_.write("other/mine.txt", "mine");
  EXPECT_TRUE(has(tune({"package", "db.yaml", "--yaml", "k.yaml", "-o", "other"}, 2).err,
                  "other exists and is no package; name another folder\n"));
  EXPECT_EQ(sandbox_.read("other/mine.txt"), "mine");
  pack("rows");
  sandbox_.write("rows/build/mine.txt", "mine");
  EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / "rows/src/variant_1.cpp"));
  sandbox_.write("k.yaml", replaced(kYaml, "m <= 8", "m <= 3"));
  pack("rows", 0, {"--partial"});
  EXPECT_EQ(sandbox_.read("rows/build/mine.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "rows/src/variant_1.cpp")) << "it is of the package before";
}

TEST_F(Package, RefusesAFlagThatCMakeWouldSplit) {
  make_database(std::string(kYaml) + "build: {flags: [\"-DX=a;b\"]}\n");
  EXPECT_TRUE(has(pack("rows", 2).err, "k.yaml: the flag or definition '-DX=a;b' cannot be given to CMake"));
}

// Its sizes are in the order of the tuning file.
TEST_F(Package, LaunchesACustomProblemWithItsChain) {
  sandbox_.write("s.cpp", R"(extern "C" void add_steps(const float* in, float* out, int count, float add) {
  for (int i = 0; i < count; ++i) out[i] = in[i] + add * STEP;
}
)");
  sandbox_.write(
      "s.yaml",
      "name: steps\nfile: s.cpp\nkernel: add_steps\nbackend: cpu\nproblem:\n  custom:\n"
      "    sizes: {register: 64, count: 5}\n    buffers:\n"
      "      - {name: in, type: f32, count: register}\n      - {name: new, type: f32, count: register, role: out}\n"
      "    reference: {kernel: add_steps, args: [in, new, register, {f32: 1}], repeat: {times: count, from: in, to: "
      "new, "
      "through: workspace}}\nparams: {STEP: 1}\n"
      "launch: {args: [in, new, register, {f32: 1}], workspace: 4*register, repeat: {times: count, from: in, to: new, "
      "through: workspace}}\nmeasure: {max_seconds: 0.02}\n");
  tune({"s.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
  tune({"merge", "best.yaml", "-o", "db.yaml"});
  tune({"package", "db.yaml", "--yaml", "s.yaml", "-o", "steps"});
  sandbox_.write("app.cpp", R"(#include <cstdio>
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
)");
  sandbox_.write("CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.18)\nproject(app LANGUAGES CXX)\nadd_subdirectory(steps)\n"
                 "add_executable(app app.cpp)\ntarget_link_libraries(app PRIVATE tuned::steps)\n");
  ASSERT_TRUE(has(shell("cmake -S . -B build && cmake --build build -j2"), "code 0"));
  const std::string printed = "6 6 ok\n7 7 ok\n2 2 ok\nthe workspace is smaller than Plan::workspace\ncode 0";
  EXPECT_EQ(shell("build/app"), printed);
  // Installed, it needs neither its folder nor that of its build.
  EXPECT_TRUE(has(shell("cmake -S steps -B steps/build && cmake --build steps/build --target tuned_steps && "
                        "cmake --install steps/build --prefix there && rm -r steps build"),
                  "code 0"));
  sandbox_.write("CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.18)\nproject(app LANGUAGES CXX)\n"
                 "find_package(tuned_steps REQUIRED)\nadd_executable(app app.cpp)\n"
                 "target_link_libraries(app PRIVATE tuned::steps)\n");
  EXPECT_EQ(shell("{ cmake -S . -B build -DCMAKE_PREFIX_PATH=$PWD/there && cmake --build build; } > log 2>&1 || "
                  "cat log; build/app"),
            printed);
}

// The reference is built into the package too, whose kernel is then made wrong.
TEST_F(Package, TestsACustomProblemWithItsReference) {
  const std::string kernel =
      R"(extern "C" void twice(const float* x, float* y, signed char* flags, int count) {
  for (int i = 0; i < count; i += PAIR) {
    for (int j = i; j < i + PAIR; ++j) y[j] = 2 * x[j];
    for (int j = i; j < i + PAIR; ++j) flags[j] = flags[j] ^ 1;
  }
}
extern "C" void twice_simple(const float* x, float* y, signed char* flags, int count) {
  for (int i = 0; i < count; ++i) y[i] = x[i] + x[i], flags[i] ^= 1;
}
)";
  sandbox_.write("t.cpp", kernel);
  sandbox_.write("t.yaml",
                 "name: twice\nfile: t.cpp\nkernel: twice\nbackend: cpu\nproblem:\n  custom:\n    sizes: {count: 100}\n"
                 "    buffers:\n      - {name: x, type: f32, count: count, init: normal}\n"
                 "      - {name: y, type: f32, count: count, role: out}\n"
                 "      - {name: flags, type: s8, count: count, role: inout}\n"
                 "    reference: {kernel: twice_simple, args: [x, y, flags, count]}\nparams: {PAIR: 2}\n"
                 "constraints: [count % PAIR == 0]\nlaunch: {args: [x, y, flags, count]}\n"
                 "measure: {max_seconds: 0.02}\n");
  tune({"t.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
  tune({"t.yaml", "--tune", "--no-finals", "--quiet", "--output", "more", "--problem", "count=64"});
  tune({"merge", "best.yaml", "more.yaml", "-o", "db.yaml"});
  EXPECT_TRUE(has(tune({"package", "db.yaml", "--yaml", "t.yaml", "-o", "twice"}).out, "2 sizes in 1 binary"));
  EXPECT_EQ(selftest("twice"),
            "6 results of 2 entries and sizes beside them, 0 wrong; 4 sizes have nothing that is valid\ncode 0");
  const auto changed = [&](const std::string& from, const std::string& to) {
    sandbox_.write("twice/kernel/t.cpp", replaced(sandbox_.read("twice/kernel/t.cpp"), from, to));
  };
  changed("y[j] = 2 * x[j];", "y[j] = 2.01f * x[j], const_cast<float*>(x)[j] = 1;");
  changed("flags[j] ^ 1", "flags[j] ^ 3");
  const std::string wrong = selftest("twice");
  for (const char* said : {"WRONG count=64: y[0] is ", "WRONG count=100: flags[0] is ", "x is an input and was written",
                           "exclude them by a constraint"})
    EXPECT_TRUE(has(wrong, said));
  EXPECT_TRUE(wrong.ends_with("code 1"));
  sandbox_.write("twice/kernel/t.cpp", kernel);
  changed("y[j] = 2", "y[j + 1] = 2");
  EXPECT_TRUE(has(selftest("twice"), "memory outside of y was written"));
  sandbox_.write("twice/kernel/t.cpp", kernel);
  EXPECT_TRUE(has(shell("cmake --build build --target bench > log && build/bench --threshold 1000"), "  count=100\n"));
  const std::string slower = shell("build/bench --threshold -0.99");
  EXPECT_TRUE(has(slower, "now (ms) then (ms)  then/now  sizes\n")) << "there are no graphs on a CPU";
  EXPECT_TRUE(has(slower, "  count=100  slower by ")) << "as both intervals tell: " << slower;
  EXPECT_TRUE(has(slower, "; 2 of 2 are slower by more than -99 % beyond noise, or the machine is: tune --baseline "));
  EXPECT_TRUE(slower.ends_with("code 5")) << slower;
  // A recorded time that was lucky, and one whose noise nobody knows.
  const auto recorded = [&](const std::string& interval) {
    std::string db = sandbox_.read("db.yaml");
    for (std::size_t at = 0; (at = db.find("    time_ms: ", at)) != std::string::npos; ++at)
      db.replace(at, db.find('\n', at) - at, "    time_ms: 1e-06");
    for (std::size_t at = 0; (at = db.find("    interval_ms: ", at)) != std::string::npos; ++at)
      db.replace(at, db.find('\n', at) + 1 - at, interval);
    sandbox_.write("lucky.yaml", db);
    std::filesystem::remove_all(sandbox_.folder() / "twice");
    tune({"package", "lucky.yaml", "--yaml", "t.yaml", "-o", "twice"});
    return shell("cmake -S twice -B build > log && cmake --build build --target bench > log && build/bench");
  };
  const std::string lucky = recorded("    interval_ms: [1e-06, 1000]\n");
  EXPECT_TRUE(has(lucky, "  count=100  -") && has(lucky, " % slower, which may be noise\n")) << lucky;
  EXPECT_TRUE(lucky.ends_with("code 0")) << lucky;
  const std::string unknown = recorded("");
  EXPECT_TRUE(has(unknown, "  count=100  slower or not is open: how noisy the recorded time is, is not known\n"));
  EXPECT_TRUE(has(unknown, "; 0 of 2 are slower by more than 5 % beyond noise; of 2 that is open\n")) << unknown;
  EXPECT_TRUE(unknown.ends_with("code 5")) << unknown;
}

TEST_F(Package, IsMadeOfKernelsOnly) {
  sandbox_.write("db.yaml",
                 "tune_database: 1\nresults:\n  - {kernel: p, backend: program, sizes: {m: 2}, device: {name: CPU}, "
                 "params: {A: 1}, time_ms: 1}\nend: yes\n");
  sandbox_.write("k.yaml", "name: p\nrun: \"true\"\nparams: {A: 1}\n");
  EXPECT_TRUE(
      has(pack("rows", 2).err, "packages are made of kernels for cuda, hip and the cpu; these results are of program"));
  EXPECT_TRUE(has(tune({"package", "db.yaml", "-o", "rows"}, 2).err, "--yaml"));
}

// A second run would lose what a user has changed, or what only looks like a part of a package.
TEST_F(Package, LosesNothingOfTheUser) {
  make_database();
  pack("rows");
  sandbox_.write("rows/README.md", "mine");
  EXPECT_TRUE(has(pack("rows", 2).err, "rows/README.md was changed since it was packaged, and would be lost; move it"));
  EXPECT_EQ(sandbox_.read("rows/README.md"), "mine");
  sandbox_.write("list/manifest.json", "{\"tune_package\": 1, \"files\": [\"a\"]}");
  sandbox_.write("list/0", "mine");
  EXPECT_TRUE(has(pack("list", 2).err, "list exists and is no package"));
  EXPECT_EQ(sandbox_.read("list/0"), "mine");
  sandbox_.write("empty", "");
  EXPECT_TRUE(has(pack("empty", 2).err, "empty exists and is no package"));
}

TEST_F(Package, SaysThatItReplacesAnEarlierOne) {
  make_database();
  EXPECT_FALSE(has(pack("rows").out, "in place of"));
  EXPECT_TRUE(has(pack("rows").out, ", in place of the package that was there\n"));
  sandbox_.write("k.yaml", replaced(kYaml, "m <= 8", "m <= 3"));
  pack("rows", 0, {"--partial"});
  sandbox_.write("rows/src/variant_1.cpp", "mine");
  sandbox_.write("k.yaml", kYaml);
  EXPECT_TRUE(has(pack("rows", 2).err, "rows/src/variant_1.cpp is no file of the package that is there, and would be"));
  EXPECT_EQ(sandbox_.read("rows/src/variant_1.cpp"), "mine");
}

TEST_F(Package, IsMadeOfASourceThatWasBuiltElsewhere) {
  make_database();
  sandbox_.write("moved/k.cpp", kKernel);
  sandbox_.write("moved/k.yaml", kYaml);
  tune({"package", "db.yaml", "--yaml", "moved/k.yaml", "-o", "my-rows"});
  EXPECT_TRUE(has(sandbox_.read("my-rows/src/variant_0.cpp"), "#include \"../kernel/k.cpp\"\n"));
  EXPECT_TRUE(has(sandbox_.read("my-rows/README.md"), "add_subdirectory(my-rows)\n"));
  EXPECT_TRUE(has(sandbox_.read("my-rows/README.md"), "= run({m, n, k}, stream, {A, B, C})"));
}

// C is zeroed before the kernel adds to it, and a caller's memory between its rows is nobody's. The kernel is right
// only where one thread at a time is in it.
TEST_F(Package, TestsWhatLiesBetweenTheRowsOfC) {
  sandbox_.write(
      "k.cpp",
      "#include <atomic>\nstatic std::atomic<int> inside;\n"
      "extern \"C\" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int lda, int ldb, int "
      "ldc) {\n  if (inside++ > 0) C[0] += 1000;\n  for (volatile int spin = 0; spin < 100000;) spin = spin + 1;\n"
      "  for (int i = 0; i < m; ++i)\n    for (int j = 0; j < n; ++j)\n      for (int p = 0; p < k; ++p) "
      "C[i * ldc + j] += A[i * lda + p] * B[p * ldb + j];\n  --inside;\n}\n");
  sandbox_.write(
      "k.yaml",
      "name: sums\nfile: k.cpp\nkernel: gemm\nbackend: cpu\nproblem: {gemm: {m: 4, n: 16, k: 16}}\nparams: {$X: 1}\n"
      "launch: {c_init: zero, args: [A, B, C, m, n, k, lda, ldb, ldc]}\nmeasure: {max_seconds: 0.02}\n");
  tune({"k.yaml", "--tune", "--no-finals", "--quiet", "--output", "best"});
  tune({"merge", "best.yaml", "-o", "db.yaml"});
  pack("sums");
  const auto tested = [&] {
    return shell(
        "unset CMAKE_BUILD_TYPE\n"  // as the package itself chooses
        "{ cmake -S sums -B build && cmake --build build --target selftest; } > log && build/selftest");
  };
  const std::string right = tested();
  EXPECT_TRUE(has(right, " 0 wrong; 0 sizes have nothing that is valid\n"));
  EXPECT_TRUE(right.ends_with("code 0"));
  sandbox_.write("sums/kernel/k.cpp",
                 replaced(sandbox_.read("sums/kernel/k.cpp"), "j < n", "j < n + (ldc > n ? 1 : 0)"));
  const std::string wrong = tested();
  EXPECT_TRUE(has(wrong, "what lies between the rows of C was written"));
  EXPECT_TRUE(wrong.ends_with("code 1"));
}

// The folder's name is no identifier.
TEST_F(PackageBuild, AProgramMultipliesWithWhatItIsLinkedTo) {
  make_database();
  pack("9-rows.of 4");
  sandbox_.write("app.cpp", R"(#include <cstdio>
#include <initializer_list>
#include "tuned__9_rows_of_4.h"
namespace rows = tuned::_9_rows_of_4;
alignas(16) float A[144], B[256], C[144], space[20];
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
  std::puts(rows::text(rows::launch(plan, nullptr, {A, B + 1, C}, space, 64)));
  std::puts(rows::text(rows::launch(plan, nullptr, {A, B, C}, space + 1, 64)));
  std::puts(rows::text(rows::run({2, 16, 16}, nullptr, {A, B})));
  std::puts(rows::find({2, 16, 16, 1, 17}).why);
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
            "operand B does not start at a multiple of 16 bytes\n"
            "the workspace does not start at a multiple of 16 bytes\n"
            "operand C is null\n"
            "the kernel is not told lda\n"
            "3 1 2 4, 2 2\n"
            "code 0");
}

// A database of before results said how they were launched.
TEST_F(PackageBuild, OtherSizesGetNothingWhoseLaunchIsNotKnown) {
  make_database();
  std::string database = sandbox_.read("db.yaml");
  const auto code = database.find("    code: ");
  database.erase(code, database.find('\n', code) + 1 - code);
  sandbox_.write("db.yaml", database);
  EXPECT_TRUE(has(pack("rows").err,
                  "note: the package is for these sizes on this device alone, because results have no code:, the hash "
                  "of how they were launched; to have it, time what is built now, on "));
  sandbox_.write("app.cpp", R"(#include <cstdio>
#include <initializer_list>
#include "tuned_rows.h"
int main() {
  for (const int m : {2, 4, 5}) {
    const tuned::rows::Plan plan = tuned::rows::find({m, 16, 16});
    std::printf("%d: entry %d; %s\n", m, plan.entry, plan.why);
  }
}
)");
  sandbox_.write("CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.18)\nproject(app LANGUAGES CXX)\nadd_subdirectory(rows)\n"
                 "add_executable(app app.cpp)\ntarget_link_libraries(app PRIVATE tuned::rows)\n");
  EXPECT_EQ(shell("{ cmake -S . -B build && cmake --build build; } > log 2>&1 || cat log; build/app"),
            "2: entry 0; \n"
            "4: entry 1; \n"
            "5: entry -1; these sizes were not tuned; for others, make the package with --yaml FILE\n"
            "code 0");
  EXPECT_TRUE(has(
      shell("sed -i '/ kDeviceNames\\[\\] =/s/\"/\"other /' rows/src/*.cpp && cmake --build build > log && build/app"),
      "4: entry -1; the device is another model than the one that was tuned; for others, make the package "
      "with --yaml FILE\n"));
}

TEST_F(PackageBuild, NamesAndTextsOfUsersStayNamesAndTexts) {
  std::string yaml = replaced(kTiledYaml, "let: {", "let: {for: \"m + (HOW == 'x')\", class: 2*m, ");
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
}  // namespace tune::cli::cli_package_test
