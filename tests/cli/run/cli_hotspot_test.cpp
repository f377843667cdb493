// The hotspot stencil of the repository on the CPU, over a small chip: a problem of several steps that each spec makes
// in another number of launches.
#include <gtest/gtest.h>

#include <cstdlib>

#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_hotspot_test {
namespace {

void replace(std::string& text, const std::string& from, const std::string& to) {
  ASSERT_NE(text.find(from), std::string::npos) << from;
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

class Hotspot : public testing::Test {
 protected:
  void SetUp() override {
    yaml_ = platform::read_file(TUNE_SOURCE_DIR "/configs/hotspot.yaml");
    replace(yaml_, "../demo/", TUNE_SOURCE_DIR "/demo/");
    replace(yaml_, "width: 4096, height: 4096, steps: 60", "width: 77, height: 50, steps: 6");
  }
  /// Two tiles, neither of which divides the chip, with these numbers of steps per launch. The headers of C++17 take
  /// half the time to compile.
  Result tune(const std::string& steps, const std::vector<std::string>& more = {}) const {
    sandbox_.write("hotspot.yaml",
                   yaml_ + "\nbuild: {flags: [-O0, -std=c++17]}\nmeasure: {max_seconds: 0.001, cold_cache: false}\n");
    std::vector<std::string> words = {"hotspot.yaml", "--backend", "cpu", "--keep-going",
                                      "--no-finals",  "--output",  "out"};
    for (const std::string& param :
         {std::string("block_size_x:16"), std::string("block_size_y:4"), std::string("tile_size_x:[1, 2]"),
          std::string("tile_size_y:1"), "temporal_tiling_factor:" + steps, std::string("loop_unroll_factor_t:1")})
      words.insert(words.end(), {"--param", param});
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.tune(words);
  }
  Sandbox sandbox_;
  std::string yaml_;
};

TEST_F(Hotspot, EveryTilingMakesTheSameSteps) {
  // Of 16 specs these are two of each number of steps, and some of each other value.
  const Result result = tune("[1, 2, 3, 6]", {"--strategy", "random", "--seed", "1", "--max-evals", "8"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "Number of valid specs: 16\n")) << result.out;
  EXPECT_EQ(sandbox_.trials("out.jsonl").size(), 8U);
  for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
    EXPECT_TRUE(record.trial.measurement() && record.trial.measurement()->checked);
}

TEST_F(Hotspot, AStepTooManyIsWrong) {
  replace(yaml_, "times: steps//temporal_tiling_factor", "times: steps//temporal_tiling_factor + 1");
  const Result result = tune("[6]");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.out, "4  check, reported: wrong result in out")) << result.out;
}

}  // namespace
}  // namespace tune::cli::cli_hotspot_test
