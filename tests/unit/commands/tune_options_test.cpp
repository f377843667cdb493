#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <set>

#include "cli/command_line.h"
#include "commands/commands.h"
#include "commands/tune/default_file.h"
#include "commands/tune/options.h"
#include "commands/tune/target.h"

namespace tune::tune_options_test {
namespace {

using commands::TuneOptions;
using Repeated = cli::OptionText::Repeated;
using Words = std::vector<std::string>;

TuneOptions read(Words words) {
  TuneOptions options;
  words.insert(words.begin(), "tune");
  cli::read_words([&](cli::Command& command) { commands::bind_tune(command, options); }, words);
  return options;
}

std::deque<cli::OptionText> all_options() {
  CLI::App app;
  cli::CommandText text;
  cli::Command command(app, text);
  TuneOptions options;
  commands::bind_tune(command, options);
  return std::move(text.options);
}

// Whoever adds an option says whether an agent and the command that repeats a spec need it, too.
TEST(TuneOptions, EachIsRepeatedOrForTheDriverAlone) {
  const std::set<std::string> driver_alone = {
      // what chooses among the specs
      "--filter", "--spec", "--partition", "--max-evals", "--strategy", "--time-budget", "--stop-within", "--clocks",
      // what their times decide
      "--statistic", "--outliers", "--finalists", "--no-finals", "--finals-budget", "--accuracy", "--noise",
      "--exit-undecided", "--baseline", "--threshold", "--compare", "--compare_wo_tuning", "--keep-going",
      // what is known already
      "--retry-failed", "--fresh",
      // agents have a store of their own
      "--clear-cache",
      // agents
      "--per-device-model", "--launcher", "--hosts", "--agents", "--listen", "--agents-within", "--agent-timeout",
      // what comes out
      "--output", "--tuning_results_file", "--kbench-files", "--kt-cache", "--t4", "--top", "--color", "--artifact",
      "--live", "--quiet", "--verbose",
      // no run
      "--probe",
      // agents have the limit of their own store
      "--store-limit"};
  std::set<std::string> unmarked;
  for (const cli::OptionText& option : all_options())
    if (option.repeated == Repeated::no) unmarked.insert(option.name());
  EXPECT_EQ(unmarked, driver_alone);
}

/// A value that the option takes.
std::string sample(const cli::OptionText& option) {
  if (!option.choices.empty()) return option.choices.back();
  return option.value == "SIZE"     ? "512M"
         : option.value == "NAME:V" ? "X:[1,2]"
         : option.value == "KEY=V"  ? "a=f16"
                                    : "3";
}

TEST(TuneOptions, WhatIsRepeatedMeansTheSameWhenItIsReadAgain) {
  for (const Repeated where : {Repeated::for_spec, Repeated::on_agents}) {
    Words words;
    std::size_t count = 0;
    for (const cli::OptionText& option : all_options()) {
      if (option.repeated == Repeated::no || (where == Repeated::for_spec && option.repeated != where)) continue;
      words.push_back(option.name());
      if (!option.is_flag()) words.push_back(sample(option));
      ++count;
    }
    EXPECT_GT(count, 20u);
    EXPECT_EQ(read(words).given.words(where), words);
  }
}

TEST(TuneOptions, AreRepeatedAsTheyWereGivenAndNotByDefault) {
  EXPECT_EQ(read({"--tune", "gemm.yaml", "--seed", "7", "--param", "A:1", "--param", "B:[2,3]", "--max-evals", "9"})
                .given.words(Repeated::for_spec),
            (Words{"--yaml", "gemm.yaml", "--param", "A:1", "--param", "B:[2,3]", "--seed", "7"}));
  EXPECT_EQ(read({"--keep", "k"}).given.words(Repeated::on_agents), (Words{"--keep", "k"}));
  EXPECT_EQ(read({"--keep", "k"}).given.words(Repeated::for_spec), Words{});
}

/// Why `tune` does not begin with these words.
std::string refusal(const Words& words) try {
  std::vector<const char*> all = {"tune"};
  for (const std::string& word : words) all.push_back(word.c_str());
  commands::read_command_line(static_cast<int>(all.size()), all.data());
  return "";
} catch (const Error& error) {
  return error.what();
}

TEST(TuneOptions, AreRepeatedAsTheyAreNow) {
  const TuneOptions options = read({"--yaml", "g.yaml", "--tuning_results_file", "r.yaml", "--devices", "all"});
  EXPECT_EQ(options.given.words(Repeated::on_agents), (Words{"--yaml", "g.yaml", "--tune", "--devices", "all"}))
      << "--tune follows from the results file";
  commands::Job job = options.job;
  EXPECT_EQ(job.given(options.given).words(Repeated::for_spec), (Words{"--yaml", "g.yaml", "--devices", "all"}));
  job.devices = "small card";
  job.search.seed = 6;
  EXPECT_EQ(job.given(options.given).words(Repeated::for_spec),
            (Words{"--yaml", "g.yaml", "--devices", "small card", "--seed", "6"}));
  job.devices.reset();
  EXPECT_EQ(job.given(options.given).words(Repeated::for_spec), (Words{"--yaml", "g.yaml", "--seed", "6"}));
}

TEST(TuneOptions, EachOfSeveralModelsNamesItsOwnDevices) {
  EXPECT_EQ(read({"--yaml", "g.yaml", "--per-device-model", "--devices", "all"}).job.devices, std::nullopt);
  EXPECT_EQ(read({"--yaml", "g.yaml", "--devices", "all"}).job.devices, "all");
  EXPECT_EQ(refusal({"--yaml", "g.yaml", "--per-device-model", "--devices", "0"}),
            "--per-device-model uses all devices; it excludes --devices 0");
}

TEST(TuneOptions, AFlagThatIsSwitchedOffIsNotRepeated) {
  const TuneOptions options = read({"--yaml", "g.yaml", "--shell=false", "--no-turns=false", "--whole"});
  EXPECT_FALSE(options.job.load.shell);
  EXPECT_TRUE(options.measure.turns);
  EXPECT_EQ(options.given.words(Repeated::on_agents), (Words{"--yaml", "g.yaml", "--whole"}));
}

TEST(TuneOptions, ThatExcludeEachOtherDoSoInEveryMode) {
  EXPECT_EQ(refusal({"g.yaml", "--dry-run", "--spec", "0", "--clocks", "auto"}),
            "--spec runs one spec, at its clock; it excludes --clocks");
  EXPECT_EQ(refusal({"g.yaml", "--dry-run", "--launcher", ""}),
            "--launcher starts agents that measure; --dry-run, --build-only, --probe and --simulate need none");
}

TEST(TuneOptions, ARefusedValueIsNamedWithItsReason) {
  EXPECT_EQ(refusal({"--yaml"}), "--yaml needs a value: FILE; see tune --help");
  EXPECT_EQ(refusal({"--jobs", "3000000000"}), "--jobs: '3000000000' is larger than 2147483647; see tune --help");
  EXPECT_EQ(refusal({"--jobs", "0"}), "--jobs: '0' is not a whole number above 0; see tune --help");
  EXPECT_EQ(refusal({"--exit-undecided", "126"}), "--exit-undecided: Value 126 not in range 0 to 125; see tune --help");
  EXPECT_EQ(refusal({"--agents-within", "0"}),
            "--agents-within: '0' is no time above 0, such as 90s, 10m or 1.5h; see tune --help");
  EXPECT_EQ(refusal({"--timeout-run", "x"}),
            "--timeout-run: 'x' is no time above 0, such as 90s, 10m or 1.5h; see tune --help");
  EXPECT_EQ(refusal({"--isolation", "none"}), "--isolation: none not in {spec,auto,device}; see tune --help");
}

TEST(TuneOptions, OneOptionMayHaveSeveralObjectives) {
  EXPECT_EQ(read({"--objective", "time", "energy", "--yaml", "g.yaml"}).job.load.objectives, (Words{"time", "energy"}));
}

TEST(TuneOptions, AShippedFileIsForItsDevice) {
  const auto gpu = [](const char* arch, std::int64_t capability) {
    return Device{"", "", arch, {{"compute_capability", capability}}};
  };
  EXPECT_EQ(commands::shipped_gemm(Backend::cuda, gpu("sm_75", 75)), "gemm_simt.yaml");
  EXPECT_EQ(commands::shipped_gemm(Backend::cuda, gpu("sm_80", 80)), "gemm_mma.yaml");
  EXPECT_EQ(commands::shipped_gemm(Backend::cuda, std::nullopt), "gemm_mma.yaml");
  EXPECT_EQ(commands::shipped_gemm(Backend::hip, gpu("gfx90a", 0)), "gemm_mfma.yaml");
  EXPECT_EQ(commands::shipped_gemm(Backend::hip, gpu("gfx950", 0)), "gemm_mfma.yaml");
  EXPECT_EQ(commands::shipped_gemm(Backend::hip, gpu("gfx1030", 0)), "gemm_simt_hip.yaml");
  EXPECT_EQ(commands::shipped_gemm(Backend::hip, std::nullopt), "gemm_simt_hip.yaml");
  EXPECT_EQ(commands::shipped_gemm(Backend::cpu, std::nullopt), "gemm_cpu.yaml");
}

TEST(TuneOptions, SizesWithoutATuningFileAreTuned) {
  EXPECT_TRUE(read({"-m", "16"}).tune);
  EXPECT_TRUE(read({"--gemm_size_file", "s.yaml", "--compare"}).tune);
  for (const Words& words :
       {Words{"--gemm_size_file", "s.yaml", "--compare_wo_tuning"}, Words{"-m", "16", "--spec", "3"},
        Words{"--config_str", "M16_BM64"}, Words{"-m", "16", "--dry-run"}, Words{"-m", "16", "--build-only"},
        Words{"-m", "16", "--yaml", "g.yaml"}})
    EXPECT_FALSE(read(words).tune) << words[2];
}

}  // namespace
}  // namespace tune::tune_options_test
