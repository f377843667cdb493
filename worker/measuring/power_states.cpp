#include "measuring/power_states.h"

#include <algorithm>

namespace tune::worker {

bool BurstClock::rest_unless_reached(double clock_hz) {
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

void SteadyLoad::apply(double seconds) const {
  const double end = now_() + seconds;
  double each = seconds;
  for (double left = seconds; left > 0; left = end - now_()) {
    const auto count = static_cast<std::int64_t>(std::clamp(left / each, 1.0, kMostInARow));
    each = run_(count) / static_cast<double>(count);
  }
}

double SteadyLoad::sample(const Seconds& timed) const {
  const double end = now_() + kSample;
  double sum = 0;
  std::int64_t count = 0;
  for (; count == 0 || now_() < end; ++count) sum += timed();
  return sum / static_cast<double>(count);
}

}  // namespace tune::worker
