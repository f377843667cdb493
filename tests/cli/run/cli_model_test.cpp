// What `model:` in a tuning file does to a search.
#include <gtest/gtest.h>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_model_test {
namespace {

using Words = std::vector<std::string>;

class Model : public testing::Test {
 protected:
  // Takes as many milliseconds as X is away from 700.
  Model() {
    const std::string script =
        "#!/bin/sh\nfor word in \"$@\"; do case $word in --X=*) x=${word#--X=};; esac; done\n"
        "off=$((x > 700 ? x - 700 : 700 - x))\necho \"{\\\"time\\\": $((off + 1))e-3}\"\n";
    std::filesystem::permissions(sandbox_.write("bench.sh", script), std::filesystem::perms::owner_all);
  }

  void write(const std::string& more) {
    sandbox_.write("bench.yaml", "name: bench\nfile: bench.sh\nparams: {$X: {range: [1, 1000]}}\n" + more);
  }
  Result search(const Words& more) {
    Words words = {"bench.yaml", "--tune", "--no-finals", "--output", "out"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.tune(words);
  }

  Sandbox sandbox_;
};

TEST_F(Model, ASearchBeginsWithWhatItPredictsToBeFast) {
  write("model: {time: abs(X - 700) + 1}\n");
  const Result result = search({"--max-evals", "8"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "params:\n  $X: 700\n"));
  EXPECT_TRUE(has(result.err + result.out,
                  "model: the predicted times of 8 specs order them as the measured ones do, "
                  "with a rank correlation of "));
}

TEST_F(Model, ItsFirstSpecIsTriedBeforeTheDefault) {
  write("model: {time: abs(X - 700) + 1}\ndefault: {$X: 3}\n");
  const Result one = search({"--max-evals", "1", "--top", "all"});
  EXPECT_TRUE(has(one.out, "X=700")) << one.err;
  EXPECT_FALSE(has(one.out, "X=3 "));
  const Result two = search({"--max-evals", "2", "--top", "all"});
  EXPECT_TRUE(has(two.out, "X=3 ")) << two.err;
}

TEST_F(Model, OfOneSpecIsNotNeeded) {
  write("model: {time: abs(X - 700) + 1}\n");
  const Result result = search({"--param", "X:3", "--strategy", "auto"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out, "params:\n  $X: 3\n"));
}

TEST_F(Model, CanBeLeftOut) {
  write("model: {time: abs(X - 700) + 1}\n");
  const Result result = search({"--max-evals", "8", "--strategy", "auto:model=0"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(has(result.err + result.out, "model: "));
}

TEST_F(Model, ThatDoesNotFitIsSaid) {
  write("model: {time: 1001 - abs(X - 700)}\n");
  const Result result = search({"--max-evals", "30"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err + result.out, "model: the predicted times of 30 specs do not fit the measured ones"));
}

TEST_F(Model, ADryRunListsWhatIsPredicted) {
  write("model: {time: abs(X - 700) + 1}\n");
  const Result result = sandbox_.tune({"bench.yaml", "--dry-run", "--top", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.out,
                  " mesh_idx predicted (ms)  limited by     name\n"
                  "      699    1000.000000"));
  EXPECT_TRUE(has(result.out, "2 of 1000 specs on "));
}

TEST_F(Model, ADryRunSaysWhyNothingIsPredicted) {
  write("");
  const Result none = sandbox_.tune({"bench.yaml", "--dry-run", "--top", "2"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(
      has(none.err, "--dry-run --top 2: bench.yaml has no section 'model:' from which times could be predicted"));
  write("model: {time: 0*X}\n");
  const Result zero = sandbox_.tune({"bench.yaml", "--dry-run", "--top", "2"});
  EXPECT_EQ(zero.code, 2);
  EXPECT_TRUE(has(zero.err, "the model has no possible value for any spec"));
}

TEST_F(Model, OfTheRepositorysKernelsKnowsTheirDevices) {
  for (const char* file : {"gemm_simt", "gemm_mma", "gemm_wgmma", "gemm_multistage", "hopper_bf16"}) {
    const Result result = sandbox_.tune({std::string(TUNE_SOURCE_DIR "/configs/") + file + ".yaml", "--dry-run",
                                         "--top", "3", "--device-file", "h200"});
    EXPECT_EQ(result.code, 0) << file << result.err;
    EXPECT_TRUE(has(result.out, " specs on NVIDIA H200, by ")) << file;
  }
  for (const char* file : {"gemm_mfma", "gemm_simt_hip"})
    EXPECT_EQ(sandbox_
                  .tune({std::string(TUNE_SOURCE_DIR "/configs/") + file + ".yaml", "--dry-run", "--top", "3",
                         "--device-file", "mi250x"})
                  .code,
              0)
        << file;
  EXPECT_EQ(sandbox_.tune({TUNE_SOURCE_DIR "/configs/gemm_cpu.yaml", "--dry-run", "--top", "3"}).code, 0);
}

}  // namespace
}  // namespace tune::cli::cli_model_test
