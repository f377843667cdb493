#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "model/trial.h"

namespace tune {

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
  double idle_seconds = 0;  ///< in which a device had nothing to launch, of all devices together
  int devices = 1;
  double finals_seconds = 0;  ///< 0: none were held
  double sweep_seconds = 0;   ///< until something was launched last
  int opening_at_once = 0;    ///< processes that open a GPU side by side, of which each spec has one; 0: it has none
};

/// Seconds of the sweep in which GPUs were opened, about: their driver opens one after the other, and nothing is timed
/// meanwhile. 0: each spec has no process of its own.
double opening_seconds(const Usage& usage);

/// One line for a person; of a sweep that mostly opened GPUs it says what would save that.
std::string to_text(const Usage& usage);

}  // namespace tune
