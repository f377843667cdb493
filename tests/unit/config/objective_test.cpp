#include "model/statistics/objective.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/grid_scan.h"
#include "support/tuning_folder.h"

namespace tune::objective_test {
namespace {

using Energy = MeasureRules::Energy;

class ObjectiveTest : public testing::Test {
 protected:
  /// A GEMM of 2e6 operations for a GPU, with more keys.
  Plan gpu(const std::string& more) const {
    return load_text(folder_,
                     "name: gemm\nfile: gemm.cu\nkernel: gemm\nproblem: {gemm: {m: 100, n: 100, k: 100}}\n"
                     "params: {BM: 64}\nlaunch: {grid: [1], block: [1], args: [A, B, C]}\n" +
                         more)
        .plan;
  }
  Plan cpu(const std::string& more) const { return load_text(folder_, cpu_file(more)).plan; }
  std::string complaint(const Plan& plan) const {
    return folder_.complaint([&] { const Objective objective(plan); });
  }

  TuningFolder folder_;
};

Measurement of(double seconds, double joules) {
  Measurement measurement;
  measurement.timing.median = seconds;
  if (joules > 0) measurement.metrics["energy"] = joules;
  return measurement;
}

TEST_F(ObjectiveTest, GflopsPerWattIsOperationsPerNanojoule) {
  const Plan plan = gpu("objective: gflops_per_watt\n");
  const Objective objective(plan);
  const Merit merit = objective.merit({0, {}}, of(1e-3, 0.001));
  EXPECT_DOUBLE_EQ(merit.value, 2);
  EXPECT_TRUE(merit.maximize);
  EXPECT_FALSE(merit.by_time);
  EXPECT_TRUE(std::isnan(objective.merit({0, {}}, of(1e-3, 0)).value));
}

TEST_F(ObjectiveTest, EnergyIsMinimised) {
  const Plan plan = gpu("objective: energy\n");
  const Merit merit = Objective(plan).merit({0, {}}, of(1e-3, 0.25));
  EXPECT_EQ(merit.value, 0.25);
  EXPECT_FALSE(merit.maximize);
}

TEST_F(ObjectiveTest, AMetricMayBeComputedFromEnergy) {
  const Plan plan = gpu("metrics: {eff: {expr: flops/energy/1e9, maximize: true}}\nobjective: eff\n");
  const auto spec = GridScan(plan.space).next();
  ASSERT_TRUE(spec);
  EXPECT_DOUBLE_EQ(Objective(plan).merit(*spec, of(1e-3, 0.001)).value, 2);
}

TEST_F(ObjectiveTest, AMetricOfThatNameIsNeitherTimeNorEnergy) {
  for (const char* name : {"gflops", "energy", "gflops_per_watt"}) {
    const std::string objective = std::string("objective: ") + name + "\n";
    const Plan built_in = gpu(objective), metric = gpu(objective + "metrics: {" + name + ": BM/time}\n");
    EXPECT_EQ(Objective(built_in).follows_time(), name == std::string("gflops"));
    EXPECT_EQ(Objective(built_in).follows_energy(), name != std::string("gflops"));
    EXPECT_FALSE(Objective(metric).follows_time() || Objective(metric).follows_energy()) << name;
  }
}

TEST_F(ObjectiveTest, EnergyIsMeasuredWhereItIsNeeded) {
  const auto energy = [this](const std::string& more, bool tuned) {
    const Plan plan = gpu(more);
    return Objective(plan).energy(tuned);
  };
  EXPECT_EQ(energy("", true), Energy::never);
  EXPECT_EQ(energy("metrics: {x: flops/time}\n", false), Energy::never);
  EXPECT_EQ(energy("objective: energy\n", true), Energy::always);
  EXPECT_EQ(energy("objective: gflops_per_watt\n", true), Energy::always);
  const std::string metric = "metrics: {eff: {expr: flops/energy, maximize: true}}\n";
  EXPECT_EQ(energy(metric, true), Energy::finals) << "the winner does not depend on it";
  EXPECT_EQ(energy(metric, false), Energy::always) << "there are no finals";
  EXPECT_EQ(energy(metric + "objective: eff\n", true), Energy::always);
  EXPECT_EQ(energy(metric + "objective: [time, eff]\n", true), Energy::always);
}

TEST_F(ObjectiveTest, EnergyIsRefusedWithTheReasonOfTheDevice) {
  Device device;
  device.name = "CPU";
  device.properties = {{"energy_counter", std::int64_t{0}}, {"no_energy", std::string("nobody may read it")}};
  const auto refusal = [&](const char* more) {
    const Plan plan = cpu(more);
    const Objective objective(plan);
    return folder_.complaint([&] { objective.require(device); });
  };
  for (const char* more : {"objective: energy\n", "objective: gflops_per_watt\n",
                           "metrics: {eff: {expr: flops/energy, maximize: true}}\nobjective: eff\n"})
    EXPECT_NE(refusal(more).find("CPU tells none: nobody may read it"), std::string::npos) << more;
  EXPECT_EQ(refusal("metrics: {eff: {expr: flops/energy, maximize: true}}\n"), "");
}

TEST_F(ObjectiveTest, ADeviceWithoutACounterIsRefusedBeforeAnythingStarts) {
  const Plan plan = gpu("objective: gflops_per_watt\n");
  const Objective objective(plan);
  Device device;
  device.name = "Old Card";
  EXPECT_NE(folder_.complaint([&] { objective.require(device); }).find("Old Card tells none"), std::string::npos);
  device.properties["energy_counter"] = std::int64_t{0};
  EXPECT_THROW(objective.require(device), Error);
  device.properties["energy_counter"] = std::int64_t{1};
  EXPECT_NO_THROW(objective.require(device));
}

TEST_F(ObjectiveTest, AProgramMayTellItsOwnEnergy) {
  const Plan plan = load_text(folder_, program_file("{P: 1}", "objective: energy\n")).plan;
  const Objective objective(plan);
  EXPECT_NO_THROW(objective.require(Device()));
  EXPECT_EQ(objective.merit({0, {}}, of(1, 3)).value, 3);
}

TEST_F(ObjectiveTest, RatesNeedAProblemWhoseOperationsAreKnown) {
  const std::string head = "objective gflops_per_watt needs a problem whose flops are known";
  EXPECT_NE(complaint(load_text(folder_, program_file("{P: 1}", "objective: gflops_per_watt\n")).plan).find(head),
            std::string::npos);
}

}  // namespace
}  // namespace tune::objective_test
