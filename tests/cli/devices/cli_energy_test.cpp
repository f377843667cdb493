// Energy on recordings: what the tutorial of Kernel Tuner does, and the clocks that a model proposes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "support/cli.h"
#include "support/has.h"

namespace tune::cli::cli_energy_test {
namespace {

struct Point {
  int clock;
  double milliseconds, watts;
};

// A single-precision kernel on an A100-PCIE-40GB, measured at ten locked clocks.
const std::vector<Point> kA100 = {{1410, 196.240, 153.408}, {1275, 216.701, 116.619}, {1140, 243.034, 91.995},
                                  {1005, 273.893, 78.121},  {870, 316.338, 71.457},   {735, 374.521, 64.991},
                                  {600, 458.787, 58.598},   {465, 591.962, 52.724},   {330, 834.078, 47.026},
                                  {210, 1310.609, 42.002}};

/// What lies between the measured clocks, in steps of 15 MHz: the card's 81 clocks.
std::vector<Point> all_clocks() {
  std::vector<Point> all;
  for (std::size_t i = kA100.size() - 1; i > 0; --i)
    for (int clock = kA100[i].clock; clock < kA100[i - 1].clock; clock += 15) {
      const double share = static_cast<double>(clock - kA100[i].clock) / (kA100[i - 1].clock - kA100[i].clock);
      const auto between = [&](double low, double high) { return low + share * (high - low); };
      const double cycles =
          between(kA100[i].milliseconds * kA100[i].clock, kA100[i - 1].milliseconds * kA100[i - 1].clock);
      all.push_back({clock, cycles / clock, between(kA100[i].watts, kA100[i - 1].watts)});
    }
  all.push_back(kA100.front());
  return all;
}

/// Kernel Tuner's cache of kernels that differ in speed (a tenth slower each), at these clocks.
std::string recording(const std::vector<Point>& points, int kernels) {
  std::string tiles, clocks, cache;
  for (int tile = 1; tile <= kernels; ++tile) tiles += fmt::format("{}{}", tile > 1 ? ", " : "", tile);
  for (const Point& point : points) clocks += fmt::format("{}{}", clocks.empty() ? "" : ", ", point.clock);
  for (int tile = 1; tile <= kernels; ++tile)
    for (const Point& point : points)
      cache += fmt::format(R"({}"{},{}": {{"tile": {}, "nvml_gr_clock": {}, "time": {}, "nvml_power": {}}})",
                           cache.empty() ? "\n" : ",\n", tile, point.clock, tile, point.clock,
                           point.milliseconds * (0.9 + 0.1 * tile), point.watts);
  return fmt::format(
      R"({{"device_name": "A100", "kernel_name": "fp32", "problem_size": [108, 64],
"tune_params_keys": ["tile", "nvml_gr_clock"], "tune_params": {{"tile": [{}], "nvml_gr_clock": [{}]}},
"objective": "time", "cache": {{{}
}}
}}
)",
      tiles, clocks, cache);
}

class Energy : public testing::Test {
 protected:
  Result simulate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--simulate", "cache.json", "--tune", "--output", "out"});
    return sandbox_.tune(more);
  }
  std::string best(const std::string& parameter) const {
    std::smatch found;
    const std::string yaml = sandbox_.read("out.yaml");
    return std::regex_search(yaml, found, std::regex(parameter + ": (\\S+)")) ? found[1] : std::string();
  }
  /// How many specs were looked up.
  std::ptrdiff_t evaluations() const {
    const std::string csv = sandbox_.read("out.csv");
    return std::count(csv.begin(), csv.end(), '\n') - 1;
  }

  Sandbox sandbox_;
};

TEST_F(Energy, ACacheOfKernelTunerIsReplayedWithoutADevice) {
  sandbox_.write("cache.json", recording(kA100, 2));
  EXPECT_EQ(simulate({}).code, 0);
  EXPECT_EQ(best("tile") + ' ' + best("nvml_gr_clock"), "1 1410");
  sandbox_.write("gemm.yaml",
                 "{name: fp32, file: a.py, params: {tile: [1], nvml_gr_clock: [1410, 1400]}, run: [\"{args}\"]}\n");
  const Result missing = sandbox_.tune({"--yaml", "gemm.yaml", "--simulate", "cache.json", "--tune"});
  EXPECT_NE(missing.code, 0);
  EXPECT_TRUE(has(missing.err, "1400")) << missing.err;
}

TEST_F(Energy, TimeAndEnergyChooseDifferentClocks) {
  sandbox_.write("cache.json", recording(kA100, 2));
  const auto clock_for = [&](const char* objective) {
    EXPECT_EQ(simulate({"--objective", objective}).code, 0) << objective;
    return best("nvml_gr_clock");
  };
  EXPECT_EQ(clock_for("time"), "1410");
  EXPECT_EQ(clock_for("energy"), "1005");
  EXPECT_EQ(clock_for("edp"), "1140");
  EXPECT_EQ(clock_for("ed2p"), "1410");
}

TEST_F(Energy, ARandomSampleOfALargeSpaceCanBeRepeated) {
  sandbox_.write("cache.json", recording(all_clocks(), 20));
  const auto tried = [&](const char* seed) {
    EXPECT_EQ(
        simulate({"--objective", "energy", "--strategy", "random_sample", "--max-evals", "30", "--seed", seed}).code,
        0);
    EXPECT_EQ(evaluations(), 30);
    return sandbox_.read("out.csv");
  };
  const std::string first = tried("5");
  EXPECT_EQ(tried("5"), first);
  EXPECT_NE(tried("6"), first);
}

TEST_F(Energy, OurOutputIsAFileOfKernelTuner) {
  sandbox_.write("cache.json", recording(kA100, 1));
  EXPECT_EQ(simulate({"--objective", "energy", "--kt-cache", "kt.json"}).code, 0);
  const std::string cache = sandbox_.read("kt.json");
  EXPECT_TRUE(has(cache, R"("objective": "energy")")) << cache;
  EXPECT_TRUE(has(cache, R"("1,1005": {)"));
  EXPECT_EQ(sandbox_.tune({"--simulate", "kt.json", "--tune", "--objective", "energy"}).code, 0);
}

TEST_F(Energy, AModelOfAFewClocksFindsTheMeasuredBest) {
  sandbox_.write("cache.json", recording(kA100, 1));
  const Result result = simulate({"--objective", "energy", "--clocks", "auto"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(best("nvml_gr_clock"), "1005");
  EXPECT_EQ(evaluations(), 4);
}

TEST_F(Energy, AModelFindsTheBestClockOfAGridWithATenthOfTheEvaluations) {
  const std::vector<Point> points = all_clocks();
  ASSERT_EQ(points.size(), 81u);
  sandbox_.write("cache.json", recording(points, 20));
  EXPECT_EQ(simulate({"--objective", "energy"}).code, 0);
  const double clock = std::stod(best("nvml_gr_clock")), joules = std::stod(best("energy"));
  const auto all = evaluations();
  EXPECT_EQ(all, 20 * 81);
  const Result result = simulate({"--objective", "energy", "--clocks", "auto"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LE(evaluations(), all / 10);
  EXPECT_NEAR(std::stod(best("nvml_gr_clock")), clock, 0.05 * clock);
  EXPECT_LT(std::stod(best("energy")), 1.01 * joules);
  EXPECT_EQ(best("tile"), "1");
  EXPECT_TRUE(has(result.out, "--clocks auto: by 8 clocks of spec ")) << result.out;
}

TEST_F(Energy, TheClockOfACpuIsProposedInTheSameWay) {
  sandbox_.write("cache.json",
                 std::regex_replace(recording(kA100, 1), std::regex("nvml_gr_clock"), "device.cpu_clock"));
  const Result result = simulate({"--objective", "energy", "--clocks", "auto"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(best("device.cpu_clock'?"), "1005") << sandbox_.read("out.yaml");
  EXPECT_EQ(evaluations(), 4);
}

TEST_F(Energy, WhatAModelNeedsIsSaid) {
  sandbox_.write("cache.json", recording(kA100, 1));
  Result result = simulate({"--clocks", "auto"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err,
                  "--clocks auto needs an objective that energy is part of, and time is not; give "
                  "--objective GFLOPS/W, energy, edp or ed2p"))
      << result.err;
  EXPECT_EQ(simulate({"--clocks", "auto", "--spec", "0", "--objective", "energy"}).code, 2);
  sandbox_.write("cache.json", std::regex_replace(recording(kA100, 1), std::regex("nvml_gr_clock"), "clock"));
  result = simulate({"--clocks", "auto", "--objective", "energy"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.err,
                  "--clocks auto chooses among the values of the parameter $device.sm_clock, or $device.cpu_clock on a "
                  "CPU, and there is none"))
      << result.err;
}

}  // namespace
}  // namespace tune::cli::cli_energy_test
