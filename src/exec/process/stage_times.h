#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "model/trial.h"

namespace tune::exec {

/// Seconds that processes spent in each stage, not counting those in which they waited for the driver.
struct StageTimes {
  std::array<double, 5> seconds{};

  double& of(Stage stage) { return seconds[static_cast<std::size_t>(stage)]; }
  double of(Stage stage) const { return seconds[static_cast<std::size_t>(stage)]; }
  StageTimes& operator+=(const StageTimes& other) {
    for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] += other.seconds[i];
    return *this;
  }
};

/// Where the time of a run went: in processes side by side, on the devices, and in the finals after the sweep.
struct Usage {
  StageTimes stages;
  double idle_seconds = 0;  ///< during which a device had nothing to launch, summed over the devices
  int devices = 1;
  bool programs = false;      ///< of which it is not known when they check and when they measure
  double finals_seconds = 0;  ///< 0: none were held
  double sweep_seconds = 0;   ///< until the last launch
  int opening_at_once = 0;    ///< processes that open a GPU at a time; 0 unless each spec has its own process
};

/// One line for a person. If most of a sweep went into opening GPUs, it says what would save that time.
std::string to_text(const Usage& usage);

}  // namespace tune::exec
