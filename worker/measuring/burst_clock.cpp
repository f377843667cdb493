#include "measuring/burst_clock.h"

#include <algorithm>

namespace tune::worker {

bool BurstClock::accepts(double clock_hz) {
  const auto reached = [this](double hz) { return hz >= (1 - kTolerance) * target_hz_; };
  if (clock_hz <= 0 || reached(clock_hz)) return true;
  double highest = clock_hz;
  for (int step = 0, idle = 0; step < kMostSteps && idle < kIdleSteps; ++step) {
    const double now = rest_(kStep);
    if (reached(now)) return false;
    idle = now > (1 + kTolerance) * highest ? 0 : idle + 1;
    highest = std::max(highest, now);
  }
  target_hz_ = highest;
  return false;
}

}  // namespace tune::worker
