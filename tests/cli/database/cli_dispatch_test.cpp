// What programs use of a database, over the real binary: what tune export and tune package write, and the example in
// demo/dispatch.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

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
  /// The example with its kernel tuned for 32x32x32 and 64x32x32, and the package of that.
  void make_example() const {
    for (const char* name : {"gemm.yaml", "gemm.cpp", "multiply.cpp", "CMakeLists.txt"})
      fs::copy_file(fs::path(TUNE_SOURCE_DIR) / "demo/dispatch" / name, sandbox_.folder() / name);
    sandbox_.write("gemm.yaml", sandbox_.read("gemm.yaml") + "measure: {max_seconds: 0.02}\n");
    sandbox_.write("sizes.yaml", "- {M: 32, N: 32, K: 32}\n- {M: 64, N: 32, K: 32}\n");
    const std::string made = shell(
        "tune gemm.yaml --shapes sizes.yaml --tune --quiet --no-finals --param MR:4 --param NR:[8,16] --param "
        "THREADS:1 "
        "--output best >tune.log 2>&1 && tune merge best.db.yaml -o gemm.db.yaml && tune package gemm.db.yaml --yaml "
        "gemm.yaml -o gemm");
    ASSERT_TRUE(has(made, "gemm: 2 sizes in ")) << made;
  }
  /// Builds with CMake as somebody does who has no tune.
  std::string built(const std::string& folder) const {
    return shell("env -i PATH=/usr/bin:/bin HOME=/nonexistent sh -c 'cmake -S " + folder + " -B " + folder +
                 "/build && cmake --build " + folder + "/build' >build.log 2>&1 || cat build.log");
  }

  Sandbox sandbox_;
};

TEST_F(Dispatch, ADatabaseIsExportedAsData) {
  std::string text = kDatabase;
  text.replace(text.find("    time_ms: 1\n"), 15, "    time_ms: 1\n    interval_ms: [0.9, 1.2]\n");
  sandbox_.write("db.yaml", text + "end: yes\n");
  EXPECT_EQ(exported("csv"),
            "kernel,device,arch,m,n,k,TILE,FAST,F,LOOP,P,S,time_ms,low_ms,high_ms,artifact,store_path\n"
            "gemm,\"NVIDIA \"\"H200\"\"\",sm_90a,64,64,64,8,true,0.5,rows,\"[2, 1]\",2,1,0.9,1.2,a8,k8/kernel.cubin\n"
            "gemm,\"NVIDIA \"\"H200\"\"\",sm_90a,512,64,64,16,false,1.5,cols,\"[1, 1]\",1,2,,,a16,k16/kernel.cubin\n");
  EXPECT_EQ(exported("bmf"),
            "{\n  \"gemm m=64 n=64 k=64\": {\n    \"latency\": {\n      \"value\": 1000000.0,\n      \"lower_value\": "
            "900000.0,\n"
            "      \"upper_value\": 1200000.0\n    }\n  },\n"
            "  \"gemm m=512 n=64 k=64\": {\n    \"latency\": {\n      \"value\": 2000000.0\n    }\n  }\n}\n");
  const std::string json = exported("json");
  EXPECT_TRUE(has(json, "\"device\": \"NVIDIA \\\"H200\\\"\",\n"));
  EXPECT_TRUE(has(json, "\"use\": 0,\n      \"time_ms\": 1.0,\n      \"interval_ms\": [\n        0.9,\n"));
  EXPECT_TRUE(has(tune({"export", "db.yaml", "--format", "xml"}, 2).err, "--format"));
  EXPECT_TRUE(
      has(tune({"export", "db.yaml", "--format", "csv", "-o", "db.yaml/x.csv"}, 4).err, "cannot write db.yaml/x.csv"));
  EXPECT_TRUE(
      has(tune({"export", "db.yaml", "--format", "csv", "-o", "db.yaml"}, 2).err, "the output is also an input"));
}

// The sizes that a rule was made from are exported with its configurations. The tree is not: no reader of it could tell
// for which other sizes a configuration is valid.
TEST_F(Dispatch, ARuleIsExportedForItsSizes) {
  sandbox_.write("db.yaml", std::string(kDatabase) + kRule + "end: yes\n");
  const std::string json = exported("json");
  EXPECT_TRUE(has(json, "\"TILE\": 8\n      },\n      \"artifact\": \"a8\""));
  EXPECT_FALSE(has(json, "tree"));
  EXPECT_FALSE(has(json, "181"));
  std::string nameless = kRule;
  nameless.replace(nameless.find(", artifact: a16"), 15, "");
  sandbox_.write("db.yaml", std::string(kDatabase) + nameless + "end: yes\n");
  EXPECT_TRUE(has(tune({"export", "db.yaml", "--format", "csv"}, 2).err,
                  "the binary of m=512 n=64 k=64 with TILE=16 is not known"));
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

TEST_F(Dispatch, ThePageBeginsWithAProgramOfTwentyLines) {
  const std::string program = sandbox_.read(TUNE_SOURCE_DIR "/demo/dispatch/multiply_cuda.cpp");
  const std::string page = sandbox_.read(TUNE_SOURCE_DIR "/docs/dispatch.md");
  EXPECT_LE(std::ranges::count(program, '\n'), 20);
  const auto block = page.find("```cpp\n");
  ASSERT_NE(block, page.npos);
  EXPECT_EQ(page.substr(block + 7, page.find("```", block + 7) - block - 7), program.substr(program.find("int main")));
  EXPECT_FALSE(has(program + sandbox_.read(TUNE_SOURCE_DIR "/demo/dispatch/timing.h"), "cuLaunch"));
}

TEST_F(Dispatch, TheSizesOfThePageAreThere) {
  const std::string folder = TUNE_SOURCE_DIR "/demo/dispatch/";
  const std::string listed =
      tune({folder + "gemm.yaml", "--shapes", folder + "sizes.yaml", "--dry-run", "--quiet"}).out;
  std::ptrdiff_t sizes = 0;
  for (auto at = listed.find("M="); at != listed.npos; at = listed.find("\nM=", at + 1)) ++sizes;
  const std::string page = sandbox_.read(TUNE_SOURCE_DIR "/docs/dispatch.md");
  EXPECT_TRUE(has(page, fmt::format("gemm: {} sizes in ", sizes))) << listed;
}

/// The lines of a text, with # for every number and one space between words.
std::vector<std::string> without_numbers(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(
      std::regex_replace(std::regex_replace(text, std::regex("[0-9]+([.][0-9]+)?"), "#"), std::regex(" +"), " "));
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

// The page shows how few configurations serve its sizes. Here there are other sizes.
TEST_F(Dispatch, ThePageShowsWhatCoverPrints) {
  const std::string page = sandbox_.read(TUNE_SOURCE_DIR "/docs/dispatch.md");
  const auto at = page.find("$ tune cover "), end = page.find('\n', at);
  ASSERT_NE(at, page.npos);
  const auto shown = without_numbers(page.substr(end + 1, page.find("```", end) - end - 1));
  make_example();
  fs::create_directory(sandbox_.folder() / "best");
  fs::copy_file(sandbox_.folder() / "best.jsonl", sandbox_.folder() / "best" / "gemm.jsonl");
  const auto printed = without_numbers(shell(page.substr(at + 2, end - at - 2)));
  ASSERT_GE(printed.size(), 5u);
  const auto begin = [](const std::string& line) { return line.substr(0, line.find_first_of(";=")); };
  EXPECT_EQ(begin(printed[0]), begin(shown[0]));
  const auto is_head = [](const std::string& line) { return line.starts_with(" use sizes "); };
  EXPECT_TRUE(std::ranges::any_of(shown, is_head));
  EXPECT_TRUE(std::ranges::any_of(printed, is_head));
  EXPECT_EQ(printed[printed.size() - 2], shown.back());
}

TEST_F(Dispatch, TheExampleLaunchesWhatWasTuned) {
  make_example();
  ASSERT_EQ(built("."), "code 0");
  const std::string said = shell("build/multiply 32x32x32 64x32x32 33x32x32 2>&1");
  EXPECT_TRUE(has(said, "32x32x32: exact, MR=4 NR=")) << said;
  EXPECT_TRUE(has(said, "33x32x32: by rule, MR=4 NR=")) << said;
  EXPECT_TRUE(has(said, "these sizes were not tuned: right\n2 exact, 1 by rule, 0 without a plan\ncode 0")) << said;
  for (const char* sizes : {"32x32", "0x32x32", "32x-1x32"})
    EXPECT_EQ(shell(std::string("build/multiply ") + sizes), "usage: multiply 512x512x256...\ncode 2");
}

// Its test says that a package is right, and finds what is not.
TEST_F(Dispatch, APackageTestsItself) {
  make_example();
  ASSERT_EQ(built("gemm"), "code 0");
  const std::string said = shell("gemm/build/selftest");
  EXPECT_TRUE(has(said, " products of 2 entries and sizes beside them, 0 wrong; 2 sizes have nothing that is valid\n"))
      << said;
  EXPECT_TRUE(said.ends_with("code 0")) << said;
  // Sums of a tile without their first product.
  std::string wrong = sandbox_.read("gemm/kernel/gemm.cpp");
  wrong.replace(wrong.find("int p = 0; p < k"), 9, "int p = 1");
  sandbox_.write("gemm/kernel/gemm.cpp", wrong);
  ASSERT_EQ(built("gemm"), "code 0");
  EXPECT_TRUE(shell("gemm/build/selftest").ends_with("code 1"));
}

}  // namespace
}  // namespace tune::cli::cli_dispatch_test
