#include "tuning/memory_bound.h"

#include "model/values/error.h"

namespace tune::tuning {
namespace {

/// Bytes per second; 0: not known.
double bandwidth_of(const Device& device) {
  const auto found = device.properties.find("memory_bandwidth");
  return found == device.properties.end() ? 0 : number_of(found->second).value_or(0);
}

}  // namespace

double merit_near_memory_bound(double share, const Plan& plan, const Objective& objective, const Device& device) {
  const double bytes = bytes_of(plan.problem), bandwidth = bandwidth_of(device);
  if (!objective.follows_time() || bandwidth <= 0 || bytes <= 0)
    throw Error(ExitCode::bad_input,
                "--stop-within needs to know the best there can be: for the objectives time and gflops of a problem "
                "with known bytes on a device with a known memory_bandwidth, and in --simulate; --time-budget ends a "
                "run otherwise");
  const double seconds = bytes / bandwidth;
  return objective.maximize() ? flops_of(plan.problem) / seconds / 1e9 * (1 - share) : seconds / (1 - share);
}

}  // namespace tune::tuning
