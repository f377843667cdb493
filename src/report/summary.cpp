#include "report/summary.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>

namespace tune::report {
namespace {

constexpr std::string_view kGauges[] = {"clock_mhz", "memory_clock_mhz", "power_w", "temperature_c", "throttle"};

double metric_of(const Measurement& measurement, const std::string& name) {
  const auto found = measurement.metrics.find(name);
  return found == measurement.metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

}  // namespace

Column arithmetic_column(double flops) {
  auto value = [flops](const Spec&, const Measurement& measurement) {
    return flops / measurement.timing.typical() / 1e9;
  };
  return {"Arithmetic (GFLOPS/s)", std::move(value), true, "GFLOPS/s"};
}

Column efficiency_column(double flops) {
  auto value = [flops](const Spec&, const Measurement& measurement) {
    return flops / metric_of(measurement, "energy") / 1e9;
  };
  return {"Efficiency (GFLOPS/W)", std::move(value), true, "GFLOPS/W"};
}

Column measured_column(std::string name) {
  const bool in_table = std::find(std::begin(kGauges), std::end(kGauges), name) == std::end(kGauges);
  auto value = [name](const Spec&, const Measurement& measurement) { return metric_of(measurement, name); };
  return {std::move(name), std::move(value), in_table};
}

std::size_t devices_of(std::span<const Trial> trials) {
  std::set<std::string_view> devices;
  for (const Trial& trial : trials)
    if (const Measurement* measurement = trial.measurement()) devices.insert(measurement->device);
  devices.erase("");
  return devices.size();
}

bool any_named_otherwise(std::span<const Trial> trials, std::string_view name) {
  return std::ranges::any_of(trials, [name](const Trial& trial) {
    return trial.measurement() && !trial.measurement()->name.empty() && trial.measurement()->name != name;
  });
}

bool any_shared(std::span<const Trial> trials) {
  return std::ranges::any_of(trials, [](const Trial& t) { return t.measurement() && t.measurement()->shared; });
}

}  // namespace tune::report
