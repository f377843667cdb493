#include "config/recorded/best_yaml.h"

#include <gtest/gtest.h>

#include "config/reader/device_file.h"
#include "config/reader/filter.h"
#include "support/tuning_folder.h"

namespace tune::best_yaml_test {
namespace {

config::BestResult result_of(const Plan& plan, std::int64_t mesh_idx) {
  config::BestResult result;
  result.winner = std::get<Spec>(plan.space.at(mesh_idx));
  result.time.seconds = 0.0012345678;
  result.time.interval = {0.0012, 0.0013};
  result.launches = 21;
  result.checked = true;
  result.figures = {{"gflops", 17452.1224}, {"GB/s", 12.5}};
  result.ratios = {{"vendor", 1.03}};
  result.artifact_hash = "00ff";
  result.device = {"NVIDIA H200", "580.159", "sm_90a", {}};
  return result;
}

std::vector<std::string> settings_of(const Spec& spec) {
  std::vector<std::string> texts;
  for (const Setting& setting : spec.params) {
    texts.push_back((setting.run_time ? "$" : "") + setting.name + "=" + to_text(setting.value));
  }
  return texts;
}

constexpr const char* kGemm = R"yaml(# a comment
name: gemm
kernel: gemm
file: src/gemm.cu
params:
  - {BM: [64, 128], $S: [1, 2], CLUSTER: [[2, 1]], RASTER: [row, 'no'], F: 1.0}
  - {BM: [32], $S: [1, 2], CLUSTER: [[1, 1]], RASTER: [col], F: 0.5, EXTRA: {values: ['2*64']}}
let: {TILES: m//BM, WIDE: EXTRA}
default: {BM: 64}
constraints: [BM > 1]
problem: {gemm: {m: 256, n: 128, k: 64}}
launch:
  grid: ["ceil_div(m, BM)", S]
  block: 128
  cluster: CLUSTER
  args: [A, B, C, {i64: m}]
build: {include: [., $TUNE_TEST_HOME/include], flags: ["-O3"], depends: inc/table.bin}
measure: {min_launches: 3}
metrics: {"GB/s": bytes/time/1e9}
baseline: vendor
)yaml";

class BestYaml : public testing::Test {
 protected:
  void SetUp() override { setenv("TUNE_TEST_HOME", "/somewhere", 1); }

  config::Loaded load_best(const std::string& text) {
    const std::vector<std::filesystem::path> yamls = {folder_.write("out/best.yaml", text)};
    return config::load(yamls, without_kernel_file());
  }
  std::string write(const config::Loaded& loaded, const config::BestResult& result) {
    return config::write_best(loaded.source, loaded.plan, result, folder_.path() / "out");
  }

  TuningFolder folder_;
};

TEST_F(BestYaml, HasAFixedOrderAndFormat) {
  const config::Loaded loaded = load_text(folder_, kGemm);
  EXPECT_EQ(write(loaded, result_of(loaded.plan, 7)), R"yaml(name: gemm
file: ../src/gemm.cu
kernel: gemm
backend: cuda
problem: {gemm: {m: 256, n: 128, k: 64}}
params:
  BM: 128
  $S: 2
  CLUSTER: [[2, 1]]
  RASTER: 'no'
  F: 1.0
let: {TILES: m//BM}
launch:
  grid: ['ceil_div(m, BM)', S]
  block: 128
  cluster: CLUSTER
  args: [A, B, C, {i64: m}]
build: {include: [.., $TUNE_TEST_HOME/include], flags: ['-O3'], depends: [../inc/table.bin]}
measure: {min_launches: 3}
metrics: {GB/s: bytes/time/1e9}
result:
  checked: yes
  tie: no
  time_ms: 1.23457
  interval_ms: [1.2, 1.3]
  launches: 21
  figures:
    gflops: 17452.1
    GB/s: 12.5
  ratio_to_best:
    vendor: 1.03
  artifact: 00ff
device:
  name: NVIDIA H200
  driver: '580.159'
  arch: sm_90a
)yaml");
}

TEST_F(BestYaml, LoadsBackAsTheOneSpec) {
  const config::Loaded loaded = load_text(folder_, kGemm);
  for (const std::int64_t mesh_idx : {0, 3, 7, 8, 9}) {
    const config::BestResult result = result_of(loaded.plan, mesh_idx);
    const config::Loaded best = load_best(write(loaded, result));
    EXPECT_EQ(best.plan.space.product_size(), 1);
    EXPECT_EQ(settings_of(std::get<Spec>(best.plan.space.at(std::int64_t{0}))), settings_of(result.winner));
    EXPECT_EQ(best.plan.file, loaded.plan.file);
    EXPECT_EQ(best.plan.build.include, loaded.plan.build.include);
    EXPECT_EQ(best.plan.build.depends, loaded.plan.build.depends);
    EXPECT_EQ(best.plan.measure, loaded.plan.measure);
  }
}

TEST_F(BestYaml, KeepsAPowerStateThatTheCommandLineChose) {
  config::LoadRules options = without_kernel_file();
  options.state = PowerState::sustained;
  for (const char* measure : {"measure: {min_launches: 3}", "measure: {state: burst}", "let: {}"}) {
    const config::Loaded loaded = load_text(folder_, cpu_file(std::string(measure) + "\n"), options);
    EXPECT_EQ(load_best(write(loaded, result_of(loaded.plan, 0))).plan.measure, loaded.plan.measure) << measure;
  }
}

TEST_F(BestYaml, OfABestYamlIsTheSameText) {
  const config::Loaded loaded = load_text(folder_, kGemm);
  config::BestResult result = result_of(loaded.plan, 9);
  const std::string text = write(loaded, result);
  const config::Loaded best = load_best(text);
  result.winner = std::get<Spec>(best.plan.space.at(std::int64_t{0}));
  EXPECT_EQ(write(best, result), text);
}

TEST_F(BestYaml, KeepsATextThatLooksLikeArithmetic) {
  const config::Loaded loaded = load_text(folder_, kGemm);
  const config::Loaded best = load_best(write(loaded, result_of(loaded.plan, 8)));
  const Value& extra = best.plan.space.mappings()[0].parameters.back().values[0];
  EXPECT_EQ(extra, Value("2*64"));
}

TEST_F(BestYaml, CarriesTheCommandLinesSizes) {
  config::LoadRules options = without_kernel_file();
  options.m = 512;
  const config::Loaded loaded = load_text(folder_, kGemm, options);
  const config::Loaded best = load_best(write(loaded, result_of(loaded.plan, 0)));
  EXPECT_EQ(std::get<Gemm>(best.plan.problem).m, 512);
}

TEST_F(BestYaml, KeepsTheBackendThatWasTuned) {
  const std::string text =
      "name: x\nfile: {cuda: a.cu, cpu: a.cpp}\nkernel: f\nparams: {P: 1}\n"
      "problem: {gemm: {m: 8, n: 8, k: 8}}\nlaunch: {grid: [m], block: [1], args: [A]}\n";
  config::LoadRules options = without_kernel_file();
  options.backend = Backend::cpu;
  const config::Loaded loaded = load_text(folder_, text, options);
  const config::Loaded best = load_best(write(loaded, result_of(loaded.plan, 0)));
  EXPECT_EQ(best.plan.backend(), Backend::cpu);
  EXPECT_EQ(best.plan.file, folder_.path() / "a.cpp");
}

TEST_F(BestYaml, CarriesAProgramsCommands) {
  const config::Loaded loaded = load_text(
      folder_,
      program_file("{P: [1, 2]}", "build: {command: \"mojo build {file} # it's\"}\nrun: ['{binary}', \"a\\tb\"]\n"));
  const config::Loaded best = load_best(write(loaded, result_of(loaded.plan, 1)));
  EXPECT_EQ(best.plan.build.command.words, loaded.plan.build.command.words);
  EXPECT_TRUE(best.plan.build.command.is_shell);
  EXPECT_EQ(best.plan.program()->run.words, loaded.plan.program()->run.words);
}

TEST_F(BestYaml, KeepsTheObjectiveOfTheCommandLine) {
  const auto objective = [this](const std::string& written, const std::vector<std::string>& given,
                                const std::vector<std::string>& figures = {}) {
    config::LoadRules options = without_kernel_file();
    options.objectives = given;
    options.figures = figures;
    const config::Loaded loaded = load_text(folder_, cpu_file(written + "metrics: {x: 1/time}\n"), options);
    const std::string best = write(loaded, result_of(loaded.plan, 0));
    const auto at = best.find("\nobjective: ");
    return at == std::string::npos ? "" : best.substr(at + 12, best.find('\n', at + 1) - at - 12);
  };
  EXPECT_EQ(objective("objective: time\n", {"x"}), "x");
  EXPECT_EQ(objective("", {"x", "GFLOP/s"}), "[x, gflops]");
  EXPECT_EQ(objective("objective: x\n", {"time"}), "time");
  EXPECT_EQ(objective("objective: GFLOP/s\n", {"gflops"}), "GFLOP/s");
  EXPECT_EQ(objective("", {"time"}), "");
  EXPECT_EQ(objective("", {"nvml_power"}, {"nvml_power"}), "") << "only the recording has it";
}

TEST_F(BestYaml, IsABaselineOfTheNextRun) {
  const config::Loaded loaded = load_text(folder_, cpu_file("", "{BM: [64, 128], $S: [1, 2]}"));
  folder_.write("out/best.yaml", write(loaded, result_of(loaded.plan, 3)));
  const config::Loaded next = load_text(folder_, cpu_file("baseline: out/best.yaml", "{BM: [64, 128], $S: [1, 2]}"));
  ASSERT_EQ(next.plan.baselines.size(), 1u);
  EXPECT_EQ(std::get<Spec>(next.plan.space.at(next.plan.baselines[0].settings)).mesh_idx, 3);
}

TEST_F(BestYaml, SaysIfNothingWasChecked) {
  const config::Loaded loaded = load_text(folder_, program_file("{P: 1}"));
  config::BestResult result = result_of(loaded.plan, 0);
  result.checked = false;
  EXPECT_NE(write(loaded, result).find("  checked: no\n"), std::string::npos);
}

TEST(DeviceFile, ReadsBackWhatItWrote) {
  const TuningFolder folder;
  const Device device{
      "NVIDIA H200",
      "580.159",
      "sm_90a",
      {{"a: key", "#"}, {"name", "x: y"}, {"warp_size", std::int64_t{32}}, {"memory_bandwidth", 4.8e12}}};
  const Device read = config::read_device(folder.write("h200.yaml", config::write_device(device)));
  EXPECT_EQ(read.name, device.name);
  EXPECT_EQ(read.driver, device.driver);
  EXPECT_EQ(read.arch, device.arch);
  EXPECT_EQ(read.properties, device.properties);
}

TEST(DeviceFile, SaysWhatIsMissing) {
  const TuningFolder folder;
  const std::filesystem::path path = folder.write("h200.yaml", "name: x\ndriverr: 1\n");
  EXPECT_EQ(folder.complaint([&] { config::read_device(path); }),
            "h200.yaml:1: the device file needs 'arch:'\n"
            "h200.yaml:2: unknown key 'driverr' in the device file, did you mean 'driver'?")
      << "one of them is there, though misspelled";
}

class Filters : public testing::Test {
 protected:
  std::vector<std::int64_t> passing(const std::vector<std::string>& texts) {
    const std::vector<config::Filter> filters = config::parse_filters(texts, plan_.space);
    std::vector<std::int64_t> passed;
    for (std::int64_t i = 0; i < *plan_.space.product_size(); ++i) {
      const Spec spec = std::get<Spec>(plan_.space.at(i));
      if (config::matches(filters, spec)) passed.push_back(spec.mesh_idx);
    }
    return passed;
  }

  TuningFolder folder_;
  Plan plan_ = load_text(folder_, program_file("[{P: [1, 2, 4], $S: [true, x]}, {P: 1.0}]")).plan;
};

TEST_F(Filters, OrValuesOfOneNameAndAndNames) {
  EXPECT_EQ(passing({"P=2", "P=4"}), (std::vector<std::int64_t>{2, 3, 4, 5}));
  EXPECT_EQ(passing({"P=2", "P=4", "S=x"}), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(passing({}).size(), 7u);
}

TEST_F(Filters, CompareNumbersByValue) { EXPECT_EQ(passing({"P=1"}), (std::vector<std::int64_t>{0, 1, 6})); }

TEST_F(Filters, RefuseWhatCanNeverMatch) {
  const auto complaint = [&](const std::string& text) { return folder_.complaint([&] { passing({text}); }); };
  EXPECT_EQ(complaint("P=3"), "--filter P=3: 'P' is never 3; its values are 1, 2, 4, 1.0");
  EXPECT_EQ(complaint("PP=3"), "--filter PP=3: unknown parameter 'PP', did you mean 'P'?");
  EXPECT_EQ(complaint("P"), "--filter P: write NAME=VALUE");
}

}  // namespace
}  // namespace tune::best_yaml_test
