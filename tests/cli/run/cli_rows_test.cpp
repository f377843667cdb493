// The kernels of the repository that work on rows, on the CPU: softmax and layer norm of a small matrix.
#include <gtest/gtest.h>

#include <regex>

#include "platform/store/store.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_rows_test {
namespace {

class Rows : public testing::TestWithParam<const char*> {
 protected:
  /// Tunes a part of the grid at sizes that neither LANES nor ROWS divides, with this text of the kernel and inputs.
  Result tune(const std::string& kernel, const std::string& inputs = "init: normal") const {
    const std::string name = GetParam();
    std::string yaml = platform::read_file(std::string(TUNE_SOURCE_DIR) + "/configs/" + name + "_cpu.yaml");
    yaml.replace(yaml.find("../demo/"), 8, "");
    if (const auto at = yaml.find("init: normal"); at != yaml.npos) yaml.replace(at, 12, inputs);
    yaml.replace(yaml.find("-fopenmp"), 8, "-fopenmp, -O0");  // the compiler's time, not the kernel's
    sandbox_.write(name + ".cpp", kernel);
    sandbox_.write("rows.yaml", yaml + "\nmeasure: {max_seconds: 0.001, cold_cache: false}\n");
    return sandbox_.tune({"rows.yaml", "--keep-going", "--no-finals", "--output", "out", "--problem", "rows=13",
                          "--problem", "cols=77", "--param", "LANES:[4, 16]", "--param", "ROWS:8", "--param",
                          "THREADS:1"});
  }
  static std::string kernel() {
    return platform::read_file(std::string(TUNE_SOURCE_DIR) + "/demo/" + GetParam() + ".cpp");
  }
  Sandbox sandbox_;
};

TEST_P(Rows, AreRight) {
  const Result result = tune(kernel());
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const auto trials = sandbox_.trials("out.jsonl");
  EXPECT_EQ(trials.size(), 4u);
  for (const wire::TrialRecord& record : trials) EXPECT_EQ(outcome_text(record.trial), "measured");
}

TEST_P(Rows, AColumnThatIsLeftOutIsFound) {
  std::string text = kernel();
  text.insert(text.find("out[col] = "), "if (col > 0) ");
  const Result result = tune(text);
  EXPECT_EQ(result.code, 1) << result.out;
  EXPECT_TRUE(has(result.out, "13 of 1001 elements are wrong")) << result.out;
}

class Softmax : public Rows {};

TEST_P(Softmax, ThatOverflowsIsFoundWithLargeInputs) {
  const std::string right = kernel();
  const auto simple = right.find("extern \"C\" void softmax_simple");
  const std::string text =
      std::regex_replace(right.substr(0, simple), std::regex(" - most\\)"), ")") + right.substr(simple);
  EXPECT_EQ(tune(text).code, 0) << "small inputs do not show it";
  const Result result = tune(text, "init: normal, scale: 64");
  EXPECT_EQ(result.code, 1) << result.out;
  EXPECT_TRUE(has(result.out, " elements are wrong")) << result.out;
  EXPECT_EQ(tune(right, "init: normal, scale: 64").code, 0);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Softmax, testing::Values("softmax"),
                         [](const auto& kernel) { return std::string(kernel.param); });
INSTANTIATE_TEST_SUITE_P(Cpu, Rows, testing::Values("softmax", "layernorm"),
                         [](const auto& kernel) { return std::string(kernel.param); });

}  // namespace
}  // namespace tune::cli::cli_rows_test
