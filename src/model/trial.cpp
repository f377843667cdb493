#include "model/trial.h"

#include <array>
#include <csignal>

namespace tune {
namespace {

constexpr std::array<std::string_view, 5> kStages = {"start", "build", "load", "check", "measure"};
constexpr std::array<std::string_view, 4> kCauses = {"reported", "crashed", "timed out", "protocol"};

}  // namespace

std::string_view to_text(Stage stage) { return kStages[static_cast<std::size_t>(stage)]; }
std::string_view to_text(Cause cause) { return kCauses[static_cast<std::size_t>(cause)]; }

FailureFacts facts_of_end(int exit_code, int signal) {
  constexpr int kCannotExecute = 126, kNotFound = 127;
  const bool suspected = signal == SIGKILL || exit_code == kCannotExecute || exit_code == kNotFound;
  return {exit_code, signal, 0, suspected};
}

bool alike(const Failure& a, const Failure& b) {
  return a.stage == b.stage && a.cause == b.cause && a.facts == b.facts;
}

bool is_of_whole_command(const Measurement& measurement) {
  return measurement.metrics.contains(kUserTime) && measurement.metrics.contains(kPeakMemory);
}

void scale_times(Measurement& measurement, double factor) {
  Timing& timing = measurement.timing;
  for (double* time : {&timing.median, &timing.min, &timing.mean, &timing.p95, &timing.ci_low, &timing.ci_high})
    *time *= factor;
  measurement.scaled *= factor;
}

}  // namespace tune
