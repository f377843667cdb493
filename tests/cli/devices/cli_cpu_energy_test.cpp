// Energy of kernels on the CPU, and its clock and power limit as parameters, on a machine of fake_machine.h: tune, its
// worker, the kernels and the process that sets the clocks are real.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <regex>

#include "fakes/fake_machine.h"
#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_cpu_energy_test {
namespace {

namespace fs = std::filesystem;
using fake::Hardware;
using fake::Machine;

class CpuEnergy : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.environment["TUNE_SYSFS"] = machine_.root().string();
    write_params("$device.cpu_clock: [1200, 3600]");
  }

  /// A kernel that waits while there is a file `pause`, and takes longer than the hardware to answer.
  void write_params(const std::string& params) const {
    const std::string pause = (sandbox_.folder() / "pause").string();
    sandbox_.write("gemm.cpp",
                   "#include <unistd.h>\nextern \"C\" void gemm(const float* A, const float* B, float* C, int m, int "
                   "n, int k) {\n  while (!access(\"" +
                       pause + R"(", F_OK)) usleep(1000);
  usleep(15000);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}
)");
    sandbox_.write("gemm.yaml",
                   "{name: gemm, file: gemm.cpp, kernel: gemm, params: {" + params +
                       "},\nproblem: {gemm: {m: 64, n: 64, k: 64}}, launch: {args: [A, B, C, m, n, k]}}\n");
  }
  Result run(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--yaml", "gemm.yaml", "--output", "out", "--no-finals"});
    return sandbox_.tune(more);
  }
  std::vector<std::string> outcomes() const {
    std::vector<std::string> all;
    for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl")) all.push_back(outcome_text(record.trial));
    return all;
  }
  double metric(const char* name, std::size_t trial = 0) const {
    return sandbox_.trials("out.jsonl").at(trial).trial.measurement()->metrics.at(name);
  }
  static void replace_by_link(const fs::path& file, const char* target) {
    fs::remove(file);
    fs::create_symlink(target, file);
  }
  fs::path note() const { return sandbox_.folder() / "tune-cpu.clocks"; }

  Sandbox sandbox_;
  Machine machine_{sandbox_.folder() / "sys"};
};

TEST_F(CpuEnergy, TheEnergyOfALaunchIsMeasuredAtEachClock) {
  const Hardware hardware(machine_);
  const Result result = run({"--tune", "--objective", "energy"});
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  ASSERT_EQ(outcomes(), (std::vector<std::string>{"measured", "measured"}));
  for (const std::size_t trial : {0u, 1u}) {
    const double clock = trial == 0 ? 1200 : 3600;
    EXPECT_DOUBLE_EQ(metric("clock_mhz", trial), clock);
    EXPECT_DOUBLE_EQ(metric("energy_clock_mhz", trial), clock);
    EXPECT_GT(metric("energy", trial), 0);
    EXPECT_LT(metric("energy", trial), 1e-6 * Machine::kRange / 10) << "a counter that begins anew adds nothing";
  }
  const char* least = metric("energy", 0) < metric("energy", 1) ? "$device.cpu_clock: 1200" : "$device.cpu_clock: 3600";
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), least)) << sandbox_.read("out.yaml");
  EXPECT_TRUE(machine_.is_free());
  EXPECT_FALSE(fs::exists(note()));
  const std::string journal = sandbox_.read("out.jsonl");
  EXPECT_TRUE(has(journal, "\"energy_counter\":1")) << journal;
  EXPECT_TRUE(has(journal, "\"idle_power_w\":")) << journal;
}

TEST_F(CpuEnergy, AClockIsAParameterThatIsShownByTheSamples) {
  const Hardware hardware(machine_, 2'000'000);
  const Result result = run();
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  ASSERT_EQ(outcomes(),
            (std::vector<std::string>{
                "measured", "measure, reported: the CPU clock was set to 3600 MHz, but the samples ran at 2000 MHz"}));
  EXPECT_DOUBLE_EQ(metric("clock_mhz"), 1200);
  EXPECT_EQ(sandbox_.artifacts(), 1);
  EXPECT_TRUE(machine_.is_free());
}

TEST_F(CpuEnergy, APowerLimitIsSetOfEachPackageAndRestored) {
  const Hardware hardware(machine_);
  sandbox_.write("pause", "");
  write_params("$device.power_limit: [65]");
  Background run(sandbox_, {"--yaml", "gemm.yaml", "--output", "out", "--no-finals"});
  const auto limit = [&](const char* package) {
    return Machine::read(machine_.powercap(package) / "constraint_0_power_limit_uw");
  };
  EXPECT_TRUE(eventually([&] { return limit("intel-rapl:0") == 65'000'000 && limit("intel-rapl:1") == 65'000'000; }));
  fs::remove(sandbox_.folder() / "pause");
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"measured"}));
  EXPECT_TRUE(machine_.is_free());
}

TEST_F(CpuEnergy, ClocksAreRestoredAfterTheDriverIsKilled) {
  const Hardware hardware(machine_);
  sandbox_.write("pause", "");
  Background run(sandbox_, {"--yaml", "gemm.yaml", "--output", "out", "--no-finals"});
  ASSERT_TRUE(eventually([&] { return !machine_.is_free(); }));
  run.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return machine_.is_free() && !fs::exists(note()); }));
}

TEST_F(CpuEnergy, WithoutPermissionNothingIsMeasured) {
  for (const char* file : {"scaling_min_freq", "scaling_max_freq"})
    replace_by_link(machine_.policy() / file, Machine::kUnwritable);
  const Result result = run();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "the parameters set the clocks or the power limit of ")) << result.err;
  EXPECT_TRUE(has(result.err, "which is refused; nothing was measured: " + (machine_.policy() / "scaling_m").string()))
      << result.err;
  EXPECT_TRUE(has(result.err, "Permission denied; it takes root: run tune with sudo, or in a container that may write"))
      << result.err;
  EXPECT_EQ(sandbox_.artifacts(), 0);
}

TEST_F(CpuEnergy, AClockThatTheMachineLacksIsRefused) {
  write_params("$device.cpu_clock: [5000]");
  EXPECT_TRUE(has(run().err, "has no CPU clock of 5000 MHz; it can be from 800 to 3600 MHz"));
  std::ofstream(machine_.policy() / "scaling_available_frequencies") << "3600000 2400000 800000 \n";
  write_params("$device.cpu_clock: [800, 2000]");
  const Result result = run();
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err, "has no CPU clock of 2000 MHz; the nearest is 800 or 2400 MHz")) << result.err;
  fs::remove_all(machine_.policy().parent_path());
  write_params("$device.cpu_clock: [800]");
  EXPECT_TRUE(has(run().err, "this machine's kernel does not let the clock be set")) << run().err;
}

TEST_F(CpuEnergy, CountersThatMayNotBeReadAreRefusedWithTheReason) {
  write_params("$N: [1]");
  replace_by_link(machine_.powercap("intel-rapl:1") / "energy_uj", Machine::kUnreadable);
  Result result = run({"--tune", "--objective", "energy"});
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "gemm.yaml: objective energy needs the energy of a launch, and ")) << result.err;
  EXPECT_TRUE(
      has(result.err, "intel-rapl:1/energy_uj: Permission denied; run tune with sudo, or have an administrator"))
      << result.err;
  fs::remove_all(machine_.powercap(""));
  result = run({"--tune", "--objective", "energy"});
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "there are no energy counters (RAPL) in ")) << result.err;
}

TEST_F(CpuEnergy, AGpuHasNoCpuClockAndAProgramShowsNone) {
  sandbox_.write("gemm.cu", "");
  sandbox_.write("gemm.yaml", std::regex_replace(sandbox_.read("gemm.yaml"), std::regex("gemm.cpp"), "gemm.cu"));
  EXPECT_TRUE(has(run().err,
                  "parameter 'device.cpu_clock' sets the CPU clock of a CPU, and this kernel runs on the cuda backend; "
                  "use device.sm_clock"))
      << run().err;
  sandbox_.write_script("{$device.cpu_clock: [1000]}");
  EXPECT_TRUE(has(sandbox_.tune({"--yaml", "bench.yaml"}).err,
                  "would set the CPU clock, and no sample of a program shows which clock it ran at"));
}

}  // namespace
}  // namespace tune::cli::cli_cpu_energy_test
