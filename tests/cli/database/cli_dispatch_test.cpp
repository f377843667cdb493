// What programs use of a database, over the real binary: what tune export writes, and the example in demo/dispatch.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_dispatch_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Two sizes, a configuration for each, and a rule for others.
constexpr const char* kDatabase = R"(tune_database: 1
results:
  - kernel: gemm
    backend: cuda
    sizes: {m: 64, n: 64, k: 64}
    problem: {a: f32}
    device: {name: 'NVIDIA "H200"', arch: sm_90a, driver: '580'}
    params: {TILE: 8, FAST: true, F: 0.5, LOOP: rows, P: [[2, 1]], $S: 2}
    artifact: a8
    store_path: k8/kernel.cubin
    time_ms: 1
  - kernel: gemm
    backend: cuda
    sizes: {m: 512, n: 64, k: 64}
    problem: {a: f32}
    device: {name: 'NVIDIA "H200"', arch: sm_90a, driver: '580'}
    params: {TILE: 16, FAST: false, F: 1.5, LOOP: cols, P: [[1, 1]], $S: 1}
    artifact: a16
    store_path: k16/kernel.cubin
    time_ms: 2
)";
constexpr const char* kRule = R"(rules:
  - kernel: gemm
    backend: cuda
    problem: {a: f32}
    device: {name: 'NVIDIA "H200"', arch: sm_90a, driver: '580'}
    slowdown: 1.02
    configurations:
      - {params: {TILE: 8}, artifact: a8, store_path: k8/kernel.cubin}
      - {params: {TILE: 16}, artifact: a16, store_path: k16/kernel.cubin}
    table:
      - {sizes: {m: 64, n: 64, k: 64}, use: 0}
      - {sizes: {m: 512, n: 64, k: 64}, use: 1}
    tree:
      if: m
      most: 181
      then: 0
      else: 1
)";

class Dispatch : public testing::Test {
 protected:
  Result tune(const Words& words, int code = 0) const {
    Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, code) << result.err << result.out;
    return result;
  }
  std::string exported(const std::string& format) const { return tune({"export", "db.yaml", "--format", format}).out; }

  /// What a command of the shell prints in the sandbox, both streams, with `code N` at its end.
  std::string shell(const std::string& command) const {
    const std::string out = (sandbox_.folder() / "said").string();
    const std::string line = "cd '" + sandbox_.folder().string() + "' && export PATH=" + TUNE_BIN_DIR +
                             ":$PATH HOME=. XDG_CACHE_HOME=$PWD/cache XDG_STATE_HOME=$PWD/state TUNE_LOCKS=$PWD; { " +
                             command + "\n} >'" + out + "' 2>&1";
    const int status = std::system(line.c_str());
    return sandbox_.read("said") + "code " + std::to_string(WEXITSTATUS(status));
  }
  /// Compiles with warnings as errors; `code 0` if all is well.
  std::string compiled(const std::string& arguments) const {
    return shell("${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -I. " + arguments);
  }

  void copy_example() const {
    for (const auto& entry : fs::directory_iterator(fs::path(TUNE_SOURCE_DIR) / "demo/dispatch"))
      fs::copy_file(entry.path(), sandbox_.folder() / entry.path().filename());
  }

  Sandbox sandbox_;
};

TEST_F(Dispatch, AHeaderChoosesAtCompileTime) {
  sandbox_.write("db.yaml", std::string(kDatabase) + "end: yes\n");
  tune({"export", "db.yaml", "--format", "header", "-o", "tuned_gemm.h"});
  sandbox_.write("use.cpp", R"(#include "tuned_gemm.h"
using tuned_gemm::choose;
using tuned_gemm::Match;
static_assert(choose(64, 64, 64).match == Match::exact);
static_assert(choose(64, 64, 64).configuration->params.TILE == 8);
static_assert(choose(64, 64, 64).configuration->params.FAST);
static_assert(choose(64, 64, 64).configuration->params.F == 0.5);
static_assert(choose(64, 64, 64).configuration->params.LOOP == "rows");
static_assert(choose(64, 64, 64).configuration->params.P == "[2, 1]");
static_assert(choose(512, 64, 64).configuration->params.S == 1);
static_assert(choose(512, 64, 64).configuration->artifact == "a16");
static_assert(choose(65, 64, 64).match == Match::none && choose(65, 64, 64).configuration == nullptr);
static_assert(tuned_gemm::kDevice == "NVIDIA \"H200\"" && tuned_gemm::kProblem_a == "f32");
)");
  EXPECT_EQ(compiled("-fsyntax-only use.cpp"), "code 0") << sandbox_.read("tuned_gemm.h");
}

TEST_F(Dispatch, AHeaderHasNamesThatCppHasNot) {
  std::string text = kDatabase;
  const auto replace = [&](const std::string& old, const std::string& by) {
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
      text.replace(at, old.size(), by);
  };
  replace("{TILE:", "{class: 1, a-b: 2, a_b: 3, linux: 4, Params: 5, TILE:");
  replace("sizes: {m:", "sizes: {Match: 3, if: 7, m:");
  replace("problem: {a: f32}", "problem: {a: f32, b-c: x, b_c: y}");
  sandbox_.write("db.yaml", text + "end: yes\n");
  tune({"export", "db.yaml", "--format", "header", "-o", "tuned_gemm.h"});
  sandbox_.write("use.cpp", R"(#include "tuned_gemm.h"
constexpr tuned_gemm::Choice kChoice = tuned_gemm::choose(3, 7, 64, 64, 64);
static_assert(kChoice.match == tuned_gemm::Match::exact && kChoice.configuration->params.class_ == 1);
static_assert(kChoice.configuration->params.linux_ == 4 && kChoice.configuration->params.Params_ == 5);
static_assert(kChoice.configuration->params.a_b + kChoice.configuration->params.a_b_ == 5);
static_assert(tuned_gemm::kProblem_b_c != tuned_gemm::kProblem_b_c_);
)");
  EXPECT_EQ(compiled("-std=gnu++17 -fsyntax-only use.cpp"), "code 0") << sandbox_.read("tuned_gemm.h");
}

TEST_F(Dispatch, AHeaderHasTheRuleForOtherSizes) {
  sandbox_.write("db.yaml", std::string(kDatabase) + kRule + "end: yes\n");
  tune({"export", "db.yaml", "--format", "header", "-o", "tuned_gemm.h"});
  sandbox_.write("use.cpp", R"(#include "tuned_gemm.h"
using tuned_gemm::choose;
static_assert(choose(64, 64, 64).match == tuned_gemm::Match::exact);
static_assert(choose(181, 9, 9).match == tuned_gemm::Match::rule && choose(181, 9, 9).configuration->params.TILE == 8);
static_assert(choose(182, 9, 9).configuration->params.TILE == 16);
)");
  EXPECT_EQ(compiled("-fsyntax-only use.cpp"), "code 0") << sandbox_.read("tuned_gemm.h");
}

TEST_F(Dispatch, ADatabaseIsExportedInOtherFormats) {
  sandbox_.write("db.yaml", std::string(kDatabase) + "end: yes\n");
  EXPECT_EQ(exported("csv"),
            "kernel,device,arch,m,n,k,TILE,FAST,F,LOOP,P,S,artifact,store_path\n"
            "gemm,\"NVIDIA \"\"H200\"\"\",sm_90a,64,64,64,8,true,0.5,rows,\"[2, 1]\",2,a8,k8/kernel.cubin\n"
            "gemm,\"NVIDIA \"\"H200\"\"\",sm_90a,512,64,64,16,false,1.5,cols,\"[1, 1]\",1,a16,k16/kernel.cubin\n");
  EXPECT_EQ(
      exported("cmake"),
      "# Written by tune export; changes are lost when it is written again.\n"
      "set(TUNED_gemm_DEVICE \"NVIDIA \\\"H200\\\"\")\n"
      "set(TUNED_gemm_COUNT 2)\n"
      "set(TUNED_gemm_0_FLAGS \"-DTILE=8\" \"-DFAST=1\" \"-DF=0.5\" \"-DLOOP=rows\" \"-DLOOP_rows=1\" \"-DP_0=2\" "
      "\"-DP_1=1\")\n"
      "set(TUNED_gemm_0_ARGUMENTS \"S=2\")\n"
      "set(TUNED_gemm_1_FLAGS \"-DTILE=16\" \"-DFAST=0\" \"-DF=1.5\" \"-DLOOP=cols\" \"-DLOOP_cols=1\" \"-DP_0=1\" "
      "\"-DP_1=1\")\n"
      "set(TUNED_gemm_1_ARGUMENTS \"S=1\")\n"
      "set(TUNED_gemm_FOR_m64_n64_k64 0)\n"
      "set(TUNED_gemm_FOR_m512_n64_k64 1)\n");
  EXPECT_TRUE(has(exported("json"), "\"tree\": null"));
  sandbox_.write("db.yaml", std::string(kDatabase) + kRule + "end: yes\n");
  const std::string json = exported("json");
  EXPECT_TRUE(has(json, "\"tree\": {\n    \"if\": \"m\",\n    \"most\": 181,\n"));
  EXPECT_TRUE(has(json, "\"device\": \"NVIDIA \\\"H200\\\"\",\n"));
  EXPECT_TRUE(has(tune({"export", "db.yaml", "--format", "xml"}, 2).err, "--format"));
  EXPECT_TRUE(has(tune({"export", "db.yaml", "--format", "csv", "-o", "no/x.csv"}, 4).err, "cannot write no/x.csv"));
}

TEST_F(Dispatch, ARuleThatDoesNotFitTogetherIsRefused) {
  const auto refuses = [&](const std::string& from, const std::string& to, const std::string& why) {
    std::string rule = kRule;
    rule.replace(rule.find(from), from.size(), to);
    sandbox_.write("db.yaml", std::string(kDatabase) + rule + "end: yes\n");
    EXPECT_TRUE(has(tune({"export", "db.yaml", "--format", "csv"}, 2).err, why));
  };
  refuses("then: 0", "then: 2", "db.yaml:36: there is no configuration 2; the first one is 0, and there are 2");
  refuses("use: 1", "use: -1", "there is no configuration -1");
  refuses("      most: 181\n", "", "tree needs 'most:'");
  refuses("slowdown: 1.02", "slowdawn: 1.02", "unknown key 'slowdawn' in a rule, did you mean 'slowdown'?");
}

TEST_F(Dispatch, TheExampleLaunchesTheStoredBinary) {
  copy_example();
  const std::string quick =
      " --tune --quiet --no-finals --param MR:4 --param NR:[8,16] --param THREADS:1 >tune.log 2>&1 && ";
  const std::string built = shell("tune gemm.yaml -m 32 -n 32 -k 32 --output one" + quick +
                                  "tune merge one.yaml -o db.yaml && tune export db.yaml --format header -o "
                                  "tuned_gemm.h && ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror dispatch.cpp -o "
                                  "dispatch -ldl");
  ASSERT_TRUE(has(built, "db.yaml: 1 result: 1 new, 0 better than before\ncode 0")) << built;
  const std::string said = shell("./dispatch 32x32x32 33x32x32 32x32x32 --counts");
  EXPECT_TRUE(has(said, "/kernel.so, right\n33x32x32: plain loop, right\n32x32x32: ")) << said;
  EXPECT_TRUE(has(said, "hits: 2 exact, 0 by the rule; misses: 1; tuned on a miss: 0\ncode 0")) << said;
  EXPECT_TRUE(has(shell("./dispatch 32x32"), "'32x32' is no size; usage: ./dispatch [--store DIR]"));
  EXPECT_TRUE(has(shell("./dispatch --store nowhere 32x32x32"),
                  "the plain loop is used instead\n32x32x32: plain loop, "
                  "right\ncode 0"));
}

TEST_F(Dispatch, TheExampleTunesOnAMissIfAsked) {
  copy_example();
  sandbox_.write("gemm.yaml",
                 "name: gemm\nfile: gemm.cpp\nkernel: gemm\nproblem: {gemm: {m: 32, n: 32, k: 32}}\n"
                 "params: {MR: 4, NR: [8, 16], $THREADS: 1}\nlaunch: {args: [A, B, C, m, n, k, THREADS]}\n"
                 "measure: {max_seconds: 0.01}\n");
  sandbox_.write("db.yaml", "");
  shell("tune gemm.yaml -m 16 --output one --tune --quiet --no-finals && tune merge one.yaml -o db.yaml");
  // A header of another device is not used.
  std::string header = tune({"export", "db.yaml", "--format", "header"}).out;
  sandbox_.write("tuned_gemm.h", header.insert(header.find("kDevice = \"") + 11, "Another "));
  const std::string said = shell(
      "${CXX:-c++} -std=c++17 dispatch.cpp -o dispatch -ldl && "
      "./dispatch --tune gemm.yaml db.yaml --counts 16x32x32 24x32x32 24x32x32");
  EXPECT_TRUE(has(said, "tuned for Another ")) << said;
  EXPECT_TRUE(has(said, "hits: 3 exact, 0 by the rule; misses: 0; tuned on a miss: 2\ncode 0")) << said;
  EXPECT_TRUE(has(sandbox_.read("db.yaml"), "sizes: {m: 24, n: 32, k: 32}\n"));
}

TEST_F(Dispatch, TheCudaTwinCompiles) {
  const char* const cuda = "/usr/local/cuda/include/cuda.h";
  if (!fs::exists(cuda)) GTEST_SKIP() << "no CUDA toolkit";
  copy_example();
  sandbox_.write("db.yaml", std::string(kDatabase) + kRule + "end: yes\n");
  tune({"export", "db.yaml", "--format", "header", "-o", "tuned_gemm.h"});
  EXPECT_EQ(compiled("-isystem /usr/local/cuda/include -fsyntax-only dispatch_cuda.cpp"), "code 0");
  const Result built = sandbox_.tune({"gemm_cuda.yaml", "--build-only", "--arch", "sm_90a", "--quiet"});
  if (built.code == 4) GTEST_SKIP() << "no run-time compiler: " << built.err;
  EXPECT_EQ(built.code, 0) << built.err << built.out;
}

}  // namespace
}  // namespace tune::cli::cli_dispatch_test
