#include "report/summary.h"

#include <limits>

namespace tune::report {

Column arithmetic_column(double flops) {
  return {"Arithmetic (GFLOPS/s)",
          [flops](const Spec&, const Measurement& measurement) { return flops / measurement.timing.median / 1e9; }};
}

Column measured_column(std::string name) {
  auto value = [name](const Spec&, const Measurement& measurement) {
    const auto found = measurement.metrics.find(name);
    return found == measurement.metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  };
  return {std::move(name), std::move(value)};
}

}  // namespace tune::report
