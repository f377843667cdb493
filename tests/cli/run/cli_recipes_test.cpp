// Programs of other tools as the manual has them. Each is skipped where its tool is not installed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <regex>
#include <sstream>

#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_recipes_test {
namespace {

namespace fs = std::filesystem;

class GoogleBenchmark : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/include/benchmark/benchmark.h")) GTEST_SKIP() << "libbenchmark-dev is not installed";
    const std::string page = platform::read_file(std::string(TUNE_SOURCE_DIR) + "/docs/programs.md");
    const auto begin = page.find("```yaml\nname: sum\n");
    ASSERT_NE(begin, page.npos);
    sandbox_.write("sum.yaml", page.substr(begin + 8, page.find("```", begin + 8) - begin - 8));
  }
  /// Tunes a sum in LANES parts; `before` stands before the loop that is timed.
  Result tune(const std::string& before) const {
    sandbox_.write("sum.cpp", R"(#include <benchmark/benchmark.h>
#include <vector>
static void sum(benchmark::State& state) {
  const std::vector<float> values(4096, 1);
  )" + before + R"(
  for (auto _ : state) {
    float parts[LANES] = {};
    for (std::size_t i = 0; i < values.size(); i += LANES)
      for (int lane = 0; lane < LANES; ++lane) parts[lane] += values[i + lane];
    benchmark::DoNotOptimize(parts);
  }
  state.counters["lanes"] = LANES;
}
BENCHMARK(sum);
BENCHMARK_MAIN();
)");
    return sandbox_.tune(
        {"sum.yaml", "--tune", "--no-finals", "--output", "out", "--exec-suffix", "--benchmark_min_time=0.002"});
  }
  Sandbox sandbox_;
};

TEST_F(GoogleBenchmark, IsTunedAsItIs) {
  const Result result = tune("");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const auto trials = sandbox_.trials("out.jsonl");
  EXPECT_EQ(trials.size(), 3u);
  for (const wire::TrialRecord& record : trials) {
    ASSERT_TRUE(record.trial.measurement()) << outcome_text(record.trial);
    const auto& timing = record.trial.measurement()->timing;
    EXPECT_TRUE(timing.median > 1e-8 && timing.median < 1e-3) << "seconds of a sum of 4096 numbers: " << timing.median;
    EXPECT_GE(timing.count, 5);
  }
  EXPECT_TRUE(has(result.out, "cpu_ms")) << result.out;
  EXPECT_TRUE(has(result.out, "lanes")) << result.out;
}

TEST_F(GoogleBenchmark, AnErrorOfTheBenchmarkFailsItsSpec) {
  const Result result = tune("if (LANES == 4) { state.SkipWithError(\"the sum is wrong\"); return; }");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(has(result.out, "the benchmark 'sum' stopped: the sum is wrong")) << result.out;
}

// The kernel is interpreted on the CPU, so that its results are checked without a GPU.
TEST(Triton, TheProgramOfTheRepositoryIsTuned) {
  if (std::system("python3 -c 'import torch, triton' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "torch and triton are not installed";
  Sandbox sandbox;
  sandbox.environment["TRITON_INTERPRET"] = "1";
  const Result result = sandbox.tune({std::string(TUNE_SOURCE_DIR) + "/configs/program_triton.yaml",
                                      "--tune",
                                      "--no-finals",
                                      "--output",
                                      "out",
                                      "-m",
                                      "50",
                                      "-n",
                                      "40",
                                      "-k",
                                      "70",
                                      "--param",
                                      "BM:[32, 64]",
                                      "--param",
                                      "BN:32",
                                      "--param",
                                      "BK:32",
                                      "--param",
                                      "STAGES:2",
                                      "--param",
                                      "WARPS:4",
                                      "--param",
                                      "GROUP:[1, 8]"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const auto trials = sandbox.trials("out.jsonl");
  EXPECT_EQ(trials.size(), 4u);
  for (const wire::TrialRecord& record : trials)
    EXPECT_TRUE(record.trial.measurement() && record.trial.measurement()->checked) << outcome_text(record.trial);
}

TEST(Triton, SaysWhatIsMissing) {
  if (std::system("python3 -c 'import torch, triton' > /dev/null 2>&1") == 0) GTEST_SKIP() << "both are installed";
  Sandbox sandbox;
  const Result result =
      sandbox.tune({std::string(TUNE_SOURCE_DIR) + "/configs/program_triton.yaml", "--max-evals", "1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "install it: pip install torch triton")) << result.out;
}

bool has_cute_dsl() {
  return std::system(
             "python3 -c 'import importlib.util as i, numpy, cutlass.cute; i.find_spec(\"cutlass.operators\").origin' "
             "> /dev/null 2>&1") == 0;
}

// The kernels are compiled without a GPU; nothing runs them.
TEST(CuteDsl, TheProgramOfTheRepositoryCompilesEachKeyOnceForAllSizes) {
  if (!has_cute_dsl()) GTEST_SKIP() << "nvidia-cutlass-dsl, nvidia-cutlass-operators and numpy are not installed";
  Sandbox sandbox;
  const auto build = [&](const std::string& m) {
    return sandbox.tune({std::string(TUNE_SOURCE_DIR) + "/configs/program_cute.yaml", "--build-only", "--filter",
                         "TILE_M=128", "--filter", "TILE_N=256", "--filter", "CLUSTER_M=2", "--filter", "CLUSTER_N=1",
                         "-m", m, "-n", "256", "-k", "512"});
  };
  EXPECT_TRUE(has(build("4096").out, "Number of valid built specs: 2 (out of 2)"));
  EXPECT_EQ(sandbox.artifacts(), 2);
  EXPECT_TRUE(has(build("72").out, "Number of valid built specs: 2 (out of 2)"));
  EXPECT_EQ(sandbox.artifacts(), 2) << "of another size it is the same code";
}

TEST(CuteDsl, SaysWhatIsMissing) {
  if (has_cute_dsl()) GTEST_SKIP() << "all of it is installed";
  Sandbox sandbox;
  const Result result = sandbox.tune({std::string(TUNE_SOURCE_DIR) + "/configs/program_cute.yaml", "--max-evals", "1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "install it: pip install nvidia-cutlass-dsl nvidia-cutlass-operators numpy"))
      << result.out;
}

/// The lines of docs/coming-from.md between one that begins like this and the end of its block.
std::vector<std::string> commands_of_the_manual(const std::string& first) {
  const std::string page = platform::read_file(TUNE_SOURCE_DIR "/docs/coming-from.md");
  std::vector<std::string> lines;
  for (std::size_t at = page.find(first); page.compare(at, 3, "```") != 0; at = page.find('\n', at) + 1)
    lines.push_back(page.substr(at, page.find('\n', at) - at));
  return lines;
}

// The manual's commands for a loop of CuTe DSL's guide, with a program whose times are known.
TEST(Recipes, AKeyOfPowersOfTwoIsValidatedOnSizesThatWereTuned) {
  Sandbox sandbox;
  const fs::path program =
      sandbox.write("bench.sh",
                    "#!/bin/sh\n"  // T=2 is the better one from 256 on
                    "time=3; [ $1 -ge 256 ] && [ $2 = 2 ] && time=2; [ $1 -lt 256 ] && [ $2 = 1 ] && "
                    "time=2\necho \"{\\\"time\\\": 0.00$time, \\\"iters\\\": 9}\"\n");
  fs::permissions(program, fs::perms::owner_all);
  sandbox.write("bench.yaml",
                "name: bench\nfile: bench.sh\nbuild: {command: [sh, -c, 'cp \"$0\" \"$1\" && echo \"# $2\" >> \"$1\"', "
                "'{file}', '{binary}', '{defines}']}\nrun: ['{binary}', '{M}', "
                "'{T}']\nproblem: {gemm: {m: 64, n: 64, k: 64}}\n"
                "let: {M: m}\nparams: {T: [1, 2]}\n");
  sandbox.write("sizes.yaml",
                "- {M: 96, N: 64, K: 64}\n- {M: 128, N: 64, K: 64}\n- {M: 200, N: 64, K: 64}\n"
                "- {M: 256, N: 64, K: 64}\n");
  const auto commands = commands_of_the_manual("tune configs/program_cute.yaml --shapes ");
  ASSERT_EQ(commands.size(), 2u);
  Result result;
  for (std::string command : commands) {
    command = std::regex_replace(command, std::regex("configs/program_cute"), "bench");
    command = std::regex_replace(command, std::regex("configs/h200/hopper_shapes"), "sizes");
    std::istringstream text(command);
    std::vector<std::string> words(std::istream_iterator<std::string>(text), {});
    words.erase(words.begin());
    result = sandbox.tune(words);
    EXPECT_EQ(result.code, 0) << command << result.out << result.err;
  }
  EXPECT_EQ(result.out,
            "slowdown  sizes -> by the key\n"
            "   1.000  m=96 n=64 k=64 -> m=128 n=64 k=64\n"
            "   1.500  m=200 n=64 k=64 -> m=256 n=64 k=64\n"
            "2 of 2 sizes that are not their own key find a result by it: mean slowdown 1.250, worst 1.500\n");
  EXPECT_EQ(sandbox.artifacts(), 2) << "what only run: gives the program does not make builds of their own";
}

}  // namespace
}  // namespace tune::cli::cli_recipes_test
