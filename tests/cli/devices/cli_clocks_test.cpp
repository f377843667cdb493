// Clocks and power limits as parameters, on a card of fake_card.h: tune and the process that sets the clocks are real.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "fakes/fake_devices.h"
#include "support/has.h"

namespace tune::cli::cli_clocks_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFree = "0 0 700000\n";  // what fake_card.h keeps: SM clock, memory clock, power limit

class Clocks : public Batches {
 protected:
  void SetUp() override {
    Batches::SetUp();
    sandbox_.environment["LD_LIBRARY_PATH"] = TUNE_FAKE_LIBRARIES;
    sandbox_.environment["FAKE_CARD"] = (sandbox_.folder() / "card").string();
    sandbox_.write("gemm.cu", "BEHAVIOUR");
    write_params("$device.sm_clock: [990, 1980]");
  }

  void write_params(const std::string& params, const std::string& more = "") const {
    sandbox_.write("gemm.yaml",
                   "name: gemm\nfile: gemm.cu\nkernel: gemm\nproblem: {gemm: {m: 8, n: 8, k: 8}}\nparams:\n"
                   "  BEHAVIOUR: [runs_at_the_clock]\n  " +
                       params + "\nlaunch: {grid: [1], block: [1], args: [A, B, C, m, n, k]}\n" + more);
  }

  Result run(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--keep-going"});
    return tune(more);
  }

  /// Whether the card is as it was before the first run.
  bool is_free() const { return !fs::exists(sandbox_.folder() / "card") || sandbox_.read("card") == kFree; }
  fs::path note() const { return sandbox_.folder() / ("tune-" + id_ + "a.clocks"); }
  std::string set_by_runs() const {
    return fs::exists(sandbox_.folder() / "card.log") ? sandbox_.read("card.log") : std::string();
  }
  void hold_kernels() { sandbox_.environment["FAKE_PAUSE"] = sandbox_.write("pause", "").string(); }
  void let_kernels_go() const { fs::remove(sandbox_.folder() / "pause"); }
  /// The process that sets the clocks; 0: there is none.
  pid_t keeper() const {
    if (!fs::exists(note())) return 0;
    pid_t pid = 0;
    std::string word;
    std::ifstream(note()) >> word >> pid;
    return pid;
  }
  Background in_background(const std::string& output = "out") const {
    return Background(sandbox_, command(output, {"--tune", "--no-finals"}), bin_);
  }
};

TEST_F(Clocks, AClockIsAParameterThatSharesTheBuildAndIsShownByTheSamples) {
  const Result result = run();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, "measured"}, {1, "measured"}}));
  EXPECT_EQ(sandbox_.artifacts(), 1);
  const auto trials = sandbox_.trials("out.jsonl");
  for (const wire::TrialRecord& record : trials) {
    const double clock = record.trial.spec.mesh_idx == 0 ? 990 : 1980;
    EXPECT_DOUBLE_EQ(record.trial.measurement()->metrics.at("clock_mhz"), clock);
    EXPECT_DOUBLE_EQ(record.trial.measurement()->timing.median, 1.98 / clock);
  }
  EXPECT_TRUE(is_free());
  EXPECT_FALSE(fs::exists(note()));
  EXPECT_TRUE(sandbox_.processes().empty());
}

TEST_F(Clocks, TheObjectivesChooseDifferentClocks) {
  write_params("$device.sm_clock: [210, 600, 990, 1350, 1980]");
  const auto best = [&](const std::string& objective) {
    const Result result = run({"--tune", "--objective", objective, "--fresh"});
    EXPECT_EQ(result.code, 0) << result.err;
    return sandbox_.read("out.yaml").substr(sandbox_.read("out.yaml").find("sm_clock: "), 15);
  };
  EXPECT_EQ(best("GFLOP/s").substr(0, 14), "sm_clock: 1980");
  EXPECT_EQ(best("GFLOPS/W").substr(0, 14), "sm_clock: 1350");
  EXPECT_EQ(best("energy").substr(0, 14), "sm_clock: 1350");
  EXPECT_EQ(best("ed2p").substr(0, 14), "sm_clock: 1980");
  EXPECT_TRUE(has(run({"--tune", "--objective", "EDP"}).out, " edp ")) << "it has a column";
}

TEST_F(Clocks, KernelTunersNamesSetTheSame) {
  write_params("nvml_gr_clock: [990]\n  nvml_mem_clock: [1593]\n  $nvml_pwr_limit: [300, 400]");
  const Result result = run();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(set_by_runs(), "sm 990\n"));
  EXPECT_TRUE(has(set_by_runs(), "memory 1593\n"));
  EXPECT_TRUE(has(set_by_runs(), "power 300000\n"));
  EXPECT_TRUE(has(set_by_runs(), "power 400000\n"));
  EXPECT_TRUE(is_free());
}

TEST_F(Clocks, TheFinalsSetTheClockOfWhoIsTimed) {
  const Result result = run({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "$device.sm_clock: 1980")) << sandbox_.read("out.yaml");
  EXPECT_TRUE(is_free());
  const Result again = sandbox_.tune_from(bin_, {"--yaml", "out.yaml", "--output", "again"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(set_by_runs().ends_with("sm 1980\nsm free\n")) << "the best configuration is timed at its clock";
}

TEST_F(Clocks, AnIdenticalRunAgainSetsNothing) {
  run({"--tune"});
  const std::string before = set_by_runs();
  sandbox_.environment["FAKE_REFUSES"] = "1";
  EXPECT_EQ(run({"--tune"}).code, 0);
  EXPECT_EQ(set_by_runs(), before);
}

TEST_F(Clocks, WithoutPermissionNothingIsBuiltOrMeasured) {
  sandbox_.environment["FAKE_REFUSES"] = "1";
  const Result result = run();
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.out, "") << "there are no results";
  EXPECT_TRUE(has(result.err,
                  "tune: error: gemm.yaml: the parameters set the clocks or the power limit of fake, which is "
                  "refused; nothing was measured: nvmlDeviceSetGpuLockedClocks: Insufficient Permissions; it takes "
                  "root: run tune with sudo, or in a container as root with --cap-add SYS_ADMIN; or have an "
                  "administrator set the clocks, and leave these parameters out"))
      << result.err;
  EXPECT_EQ(sandbox_.artifacts(), 0);
  EXPECT_TRUE(noted(" starts").empty());
  EXPECT_FALSE(fs::exists(note()));
}

TEST_F(Clocks, WithoutTheLibraryNothingIsMeasured) {
  sandbox_.environment["LD_LIBRARY_PATH"] = sandbox_.folder().string();
  const Result result = run();
  if (result.code == 0) GTEST_SKIP() << "this machine has the library";
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "libnvidia-ml.so.1")) << result.err;
  EXPECT_TRUE(noted(" starts").empty());
}

TEST_F(Clocks, AClockThatTheCardLacksIsRefusedAndTheNearestNamed) {
  write_params("$device.sm_clock: [990, 1000]");
  Result result = run();
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err,
                  "gemm.yaml: parameter '$device.sm_clock': fake has no SM clock of 1000 MHz; the nearest is 990 or "
                  "1005 MHz"))
      << result.err;
  write_params("$device.mem_clock: [5000]");
  EXPECT_TRUE(has(run().err, "no memory clock of 5000 MHz; the nearest is 2619 MHz"));
  write_params("$device.power_limit: [100]");
  EXPECT_TRUE(has(run().err, "no power limit of 100 W; it can be from 200 to 700 W"));
  EXPECT_EQ(set_by_runs(), "");
}

TEST_F(Clocks, ARowIsNotLabelledWithAClockThatItsSamplesDoNotShow) {
  sandbox_.environment["FAKE_HOLDS"] = "1500";
  const Result result = run({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(outcomes().at(0), "measured");
  EXPECT_EQ(outcomes().at(1),
            "measure, reported: the SM clock was set to 1980 MHz, but the samples ran at 1500 MHz, held back by the "
            "power limit");
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "$device.sm_clock: 990"));
}

TEST_F(Clocks, ClocksAreRestoredAfterCtrlC) {
  hold_kernels();
  Background run = in_background();
  ASSERT_TRUE(eventually([&] { return !noted(" runs").empty(); }));
  EXPECT_FALSE(is_free());
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().code, 130);
  EXPECT_TRUE(is_free());
  EXPECT_FALSE(fs::exists(note()));
}

TEST_F(Clocks, ClocksAreRestoredAfterTheDriverIsKilled) {
  hold_kernels();
  Background run = in_background();
  ASSERT_TRUE(eventually([&] { return !noted(" runs").empty(); }));
  EXPECT_FALSE(is_free());
  run.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return is_free() && !fs::exists(note()); }));
}

TEST_F(Clocks, NoSignalThatCanBeCaughtEndsTheProcessThatRestores) {
  hold_kernels();
  Background run = in_background();
  ASSERT_TRUE(eventually([&] { return !noted(" runs").empty(); }));
  ASSERT_GT(keeper(), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::kill(keeper(), signal);
  run.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return is_free() && !fs::exists(note()); }));
}

TEST_F(Clocks, AProcessThatWasKilledIsReplacedAndWhatItLeftIsUndone) {
  hold_kernels();
  Background run = in_background();
  ASSERT_TRUE(eventually([&] { return !noted(" runs").empty(); }));
  ::kill(keeper(), SIGKILL);
  let_kernels_go();
  const Result result = run.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, "measured"}, {1, "measured"}}));
  EXPECT_TRUE(is_free());
  EXPECT_FALSE(fs::exists(note()));
}

TEST_F(Clocks, TheNextRunRestoresWhatNobodyCouldRestore) {
  hold_kernels();
  {
    Background run = in_background();
    ASSERT_TRUE(eventually([&] { return !noted(" runs").empty(); }));
    ::kill(keeper(), SIGKILL);
    run.signal(SIGKILL);
    run.wait();
  }
  let_kernels_go();
  ASSERT_FALSE(is_free());
  ASSERT_TRUE(fs::exists(note()));
  write_params("$N: [1]");
  sandbox_.environment["FAKE_REFUSES"] = "1";
  EXPECT_TRUE(has(run().err,
                  "warning: the clocks of fake are still as a killed run had set them, and cannot be "
                  "restored: nvmlDeviceResetGpuLockedClocks: Insufficient Permissions"));
  sandbox_.environment.erase("FAKE_REFUSES");
  const Result result = run({"--fresh"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(result.err, "the clocks of fake were still as a killed run had set them; they are restored"))
      << result.err;
  EXPECT_TRUE(is_free());
  EXPECT_FALSE(fs::exists(note()));
}

TEST_F(Clocks, APowerLimitIsRestoredToWhatItWas) {
  sandbox_.write("card", "0 0 450000\n");
  write_params("$device.power_limit: [300]");
  EXPECT_EQ(run().code, 0);
  EXPECT_EQ(sandbox_.read("card"), "0 0 450000\n");
}

TEST_F(Clocks, ACardThatCannotLockItsClocksSetsThoseOfApplications) {
  sandbox_.environment["FAKE_OLD"] = "1";
  sandbox_.write("card", "1005 0 700000\n");
  write_params("$device.sm_clock: [990, 1980]\n  $device.mem_clock: [1593]");
  const Result result = run();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, "measured"}, {1, "measured"}}));
  EXPECT_TRUE(has(set_by_runs(), "applications 1593 990\n")) << set_by_runs();
  EXPECT_TRUE(has(set_by_runs(), "applications 1593 1980\n")) << set_by_runs();
  EXPECT_EQ(sandbox_.read("card"), "1005 0 700000\n") << "as it was before";
  sandbox_.environment["FAKE_REFUSES"] = "1";
  EXPECT_TRUE(has(run({"--fresh"}).err, "nvmlDeviceSetApplicationsClocks: Insufficient Permissions; it takes root"));
}

TEST_F(Clocks, OnlyOneRunSetsTheClocksOfACard) {
  hold_kernels();
  Background first = in_background();
  ASSERT_TRUE(eventually([&] { return !noted(" runs").empty(); }));
  Background second = in_background("second");
  ASSERT_TRUE(eventually([&] { return has(second.said(), "waiting for the clocks of fake, which another run sets"); }))
      << second.said();
  EXPECT_EQ(noted(" runs").size(), 1u);
  let_kernels_go();
  EXPECT_EQ(first.wait().code, 0);
  const Result result = second.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(outcomes("second"), (std::map<std::int64_t, std::string>{{0, "measured"}, {1, "measured"}}));
  EXPECT_TRUE(is_free());
}

TEST_F(Clocks, ARunThatWaitsForTheClocksCanBeInterrupted) {
  hold_kernels();
  const Background first = in_background();
  ASSERT_TRUE(eventually([&] { return !noted(" runs").empty(); }));
  Background second = in_background("second");
  ASSERT_TRUE(eventually([&] { return has(second.said(), "waiting for the clocks"); }));
  second.signal(SIGINT);
  EXPECT_EQ(second.wait().code, 130);
}

TEST_F(Clocks, ACardThatIsLostEndsTheRunAndIsRestoredLater) {
  sandbox_.environment["FAKE_LOST"] = (sandbox_.folder() / "lost").string();
  hold_kernels();
  Background run = in_background();
  ASSERT_TRUE(eventually([&] { return !noted(" runs").empty(); }));
  sandbox_.write("lost", "");
  let_kernels_go();
  const Result result = run.wait();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "no longer answers: nvmlDeviceSetGpuLockedClocks: GPU is lost")) << result.err;
  EXPECT_TRUE(fs::exists(note())) << "what is to be undone is not forgotten";
  fs::remove(sandbox_.folder() / "lost");
  EXPECT_EQ(this->run().code, 0);
  EXPECT_TRUE(is_free());
  EXPECT_FALSE(fs::exists(note()));
}

TEST_F(Clocks, ARunWithoutSuchParametersTouchesNothing) {
  write_params("$N: [1, 2]");
  EXPECT_EQ(run({"--tune"}).code, 0);
  EXPECT_EQ(set_by_runs(), "");
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "card"));
}

TEST_F(Clocks, WhatCannotBeSetIsRefusedAtItsPlace) {
  write_params("$nvml_fan_speed: [1]\n  $device.sm_clock: [fast]\n  nvml_gr_clock: [990]");
  const Result result = run();
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err,
                  "gemm.yaml:7: parameter 'nvml_fan_speed' is nothing that can be set on a device; there are "
                  "device.sm_clock, device.mem_clock, device.power_limit, device.cpu_clock"))
      << result.err;
  EXPECT_TRUE(has(result.err, "gemm.yaml:8: parameter 'device.sm_clock' must have whole numbers of MHz, above 0"))
      << result.err;
  write_params("$device.sm_clock: [990]\n  nvml_gr_clock: [990]");
  EXPECT_TRUE(
      has(run().err, "gemm.yaml:8: parameter 'nvml_gr_clock' sets the SM clock, as another parameter does; keep one"));
}

TEST_F(Clocks, ACpuKernelOrAProgramHasNoSuchClocks) {
  sandbox_.write_gemm();
  const Result kernel = sandbox_.tune({"--yaml", "gemm.yaml", "--add-param", "$nvml_gr_clock:1000"});
  EXPECT_EQ(kernel.code, 2);
  EXPECT_TRUE(has(kernel.err,
                  "parameter 'nvml_gr_clock' sets the SM clock of a GPU, and this kernel runs on the cpu backend; "
                  "use device.cpu_clock"))
      << kernel.err;
  sandbox_.write_script("{$nvml_gr_clock: [1000]}");
  const Result program = sandbox_.tune({"--yaml", "bench.yaml"});
  EXPECT_EQ(program.code, 2);
  EXPECT_TRUE(has(program.err,
                  "parameter 'nvml_gr_clock' would set the SM clock of a GPU, and which one a program "
                  "uses is not known; rename it if the program sets its clocks itself"))
      << program.err;
}

/// The same on an AMD card.
class ClocksOfAmd : public Clocks {
 protected:
  void SetUp() override {
    Clocks::SetUp();
    fs::rename(bin_ / "tune-worker-cuda", bin_ / "tune-worker-hip");
    // The bytes of the UUID that HIP gives are the digits of the card's unique id.
    sandbox_.environment["FAKE_DEVICES"] = "fake:GPU-30313233-3435-3637-3839-616263646566";
    write_params("$device.sm_clock: [500, 1980]\n  $device.power_limit: [300]");
    sandbox_.write("gemm.hip", "BEHAVIOUR");
    sandbox_.write("gemm.yaml", std::regex_replace(sandbox_.read("gemm.yaml"), std::regex("gemm.cu"), "gemm.hip"));
  }
};

TEST_F(ClocksOfAmd, AreSetAndRestored) {
  const Result result = run();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(outcomes(), (std::map<std::int64_t, std::string>{{0, "measured"}, {1, "measured"}}));
  EXPECT_TRUE(has(set_by_runs(), "power 300000\n"));
  EXPECT_TRUE(is_free()) << sandbox_.read("card");
  EXPECT_EQ(sandbox_.read("card.level"), "0\n") << "the driver chooses among the clocks again";
}

TEST_F(ClocksOfAmd, AreRefusedWithoutPermission) {
  sandbox_.environment["FAKE_REFUSES"] = "1";
  const Result result = run();
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "rsmi_dev_perf_level_set: RSMI_STATUS_PERMISSION; it takes root")) << result.err;
}

}  // namespace
}  // namespace tune::cli::cli_clocks_test
