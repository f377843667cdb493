// What a CPU says of itself, in files such as those of Linux.
#include "sensors/cpu_monitor.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "fakes/fake_machine.h"

namespace tune::cpu_monitor_test {
namespace {

namespace fs = std::filesystem;
using fake::Machine;

class CpuGauges : public testing::Test {
 protected:
  CpuGauges() { ::setenv("TUNE_SYSFS", machine_.root().c_str(), 1); }
  ~CpuGauges() override {
    ::unsetenv("TUNE_SYSFS");
    fs::remove_all(machine_.root());
  }
  void count(long long microjoules, const char* package = "intel-rapl:0") const {
    Machine::write(machine_.powercap(package) / "energy_uj", microjoules);
  }
  static fs::path new_folder() {
    std::string name = (fs::temp_directory_path() / "tune-sys.XXXXXX").string();
    return ::mkdtemp(name.data());
  }

  Machine machine_{new_folder()};
};

TEST_F(CpuGauges, EnergyIsThatOfAllPackagesAndOfNothingElse) {
  const worker::CpuMonitor monitor(0);
  EXPECT_DOUBLE_EQ(monitor.joules().value(), 0);
  count(Machine::kRange - 50'000);
  EXPECT_DOUBLE_EQ(monitor.joules().value(), 0.05);
  count(Machine::kRange - 70'000, "intel-rapl:1");
  count(1, "intel-rapl:0:0");
  count(1, "intel-rapl:2");
  count(1, "intel-rapl-mmio:0");
  EXPECT_DOUBLE_EQ(monitor.joules().value(), 0.08);
  EXPECT_DOUBLE_EQ(monitor.power_limit_w().value(), 190);
  EXPECT_EQ(monitor.why_no_energy(), "");
}

TEST_F(CpuGauges, ACounterThatBeginsAnewGoesOn) {
  const worker::CpuMonitor monitor(0);
  monitor.joules();
  count(400'000);
  EXPECT_DOUBLE_EQ(monitor.joules().value(), 0.5);
}

TEST_F(CpuGauges, TheClockIsThatOfTheProcessorsOfAProcess) {
  const worker::CpuMonitor monitor(::getpid());
  EXPECT_DOUBLE_EQ(monitor.conditions().clock_mhz.value(), 3600);
  for (long i = 0; i < ::sysconf(_SC_NPROCESSORS_CONF); ++i)
    Machine::write(machine_.policy(i) / "cpuinfo_avg_freq", 1'987'000);
  EXPECT_DOUBLE_EQ(monitor.conditions().clock_mhz.value(), 1987) << "what the hardware has counted";
  EXPECT_FALSE(worker::CpuMonitor(0).conditions().clock_mhz);
}

TEST_F(CpuGauges, WhatIsNotThereIsNotKnown) {
  fs::remove_all(machine_.root());
  const worker::CpuMonitor monitor(::getpid());
  EXPECT_FALSE(monitor.joules());
  EXPECT_FALSE(monitor.power_limit_w());
  EXPECT_FALSE(monitor.conditions().clock_mhz);
  EXPECT_NE(monitor.why_no_energy().find("there are no energy counters (RAPL)"), std::string::npos);
}

}  // namespace
}  // namespace tune::cpu_monitor_test
