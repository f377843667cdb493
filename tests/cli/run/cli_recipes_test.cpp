// Programs of other tools as the manual has them. Each is skipped where its tool is not installed.
#include <gtest/gtest.h>

#include <cstdlib>

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

}  // namespace
}  // namespace tune::cli::cli_recipes_test
