#include "measuring/steady_load.h"

#include <algorithm>

namespace tune::worker {

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
