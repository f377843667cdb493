#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/foreign/spellings.h"
#include "model/values/error.h"
#include "search/strategies.h"

namespace tune::cli::option_spellings_test {
namespace {

using Words = std::vector<std::string>;

Words ours(const Words& words) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return in_our_spelling(static_cast<int>(argv.size()), argv.data());
}

std::string page() {
  std::ifstream file(TUNE_SOURCE_DIR "/docs/coming-from.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OptionSpellings, OptionsOfOtherToolsBecomeOurs) {
  EXPECT_EQ(ours({"tune", "--num_threads", "16", "--o", "out.yaml"}),
            Words({"tune", "--jobs", "16", "--tuning_results_file", "out.yaml"}));
  EXPECT_EQ(ours({"tune", "--ngpus", "3", "--gpu_ids=0,2"}), Words({"tune", "--devices", "0,1,2", "--devices", "0,2"}));
  EXPECT_EQ(ours({"tune", "-dtype_a", "fp16", "--dtype_b=bf8", "-dtype_c", "f32"}),
            Words({"tune", "--problem", "a=f16", "--problem", "b=e5m2", "--problem", "c=f32"}));
  EXPECT_EQ(ours({"tune", "-col_a", "--init_type", "trig_float", "--bias_vector"}),
            Words({"tune", "--problem", "rowMajorA=N", "--problem", "init=trig", "--problem", "bias=col"}));
  EXPECT_EQ(ours({"tune", "-dryrun", "--num-gpu", "2", "--cache-dir", "d", "-c"}),
            Words({"tune", "--dry-run", "--devices", "0,1", "--store", "d"}));
}

TEST(OptionSpellings, OurOptionsAndWhatFollowsTwoDashesStayAsTheyAre) {
  const Words words = {"tune", "-o", "best", "--output=x", "-", "--c", "--", "xz", "-c", "--profile", "--o"};
  EXPECT_EQ(ours(words), words);
}

TEST(OptionSpellings, AMissingOrWrongValueIsLeftToItsOption) {
  EXPECT_EQ(ours({"tune", "--num_threads"}), Words({"tune", "--jobs"}));
  EXPECT_THROW(ours({"tune", "--ngpus", "0"}), Error);
  EXPECT_THROW(ours({"tune", "--num-gpu", "all"}), Error);
}

TEST(OptionSpellings, TheManualNamesEveryOne) {
  const std::string text = page();
  for (const Spelling& spelling : spellings())
    EXPECT_NE(text.find("`" + std::string(spelling.name)), std::string::npos) << spelling.name;
  for (const search::KernelTunerName& name : search::kernel_tuner_names())
    EXPECT_NE(text.find("`" + std::string(name.name) + "`"), std::string::npos) << name.name;
}

TEST(OptionSpellings, ARefusalSaysWhatToUseInstead) {
  int refused = 0;
  for (const Spelling& spelling : spellings()) {
    if (spelling.treatment != Spelling::Treatment::refused) continue;
    ++refused;
    try {
      ours({"tune", std::string(spelling.name), "x"});
      FAIL() << spelling.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), std::string(spelling.name) + " is an option of " + std::string(spelling.tool) +
                                  " and not of tune: " + std::string(spelling.ours));
      EXPECT_EQ(error.code(), ExitCode::bad_input);
    }
  }
  EXPECT_GT(refused, 10);
}

TEST(OptionSpellings, KernelTunersStrategiesAreOurs) {
  for (const search::KernelTunerName& name : search::kernel_tuner_names()) {
    const std::string theirs(name.name), ours(name.ours);
    EXPECT_EQ(search::parse_strategy(ours).name, ours);
    if (name.same) {
      EXPECT_EQ(search::parse_strategy(theirs).name, ours);
    } else {
      try {
        search::parse_strategy(theirs);
        ADD_FAILURE() << theirs;
      } catch (const Error& error) {
        EXPECT_EQ(error.what(),
                  "--strategy " + theirs + ": this strategy of Kernel Tuner is not here; the nearest one is " + ours);
      }
    }
  }
}

}  // namespace
}  // namespace tune::cli::option_spellings_test
