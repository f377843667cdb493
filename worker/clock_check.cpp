#include "clock_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace tune {
namespace {

double difference(const TimedLaunch& launch) { return launch.seen - launch.claimed; }

}  // namespace

std::optional<std::string> clock_contradiction(std::vector<TimedLaunch> launches, double allowance) {
  if (launches.empty()) return std::nullopt;
  std::ranges::sort(launches, {}, &TimedLaunch::claimed);
  launches.resize((launches.size() + 1) / 2);
  const TimedLaunch median = launches.back();
  std::ranges::sort(launches, {}, difference);
  if (difference(launches[launches.size() / 4]) <= allowance) return std::nullopt;
  return fmt::format("the kernel's process reports {:.4g} ms for launches that took {:.4g} ms", 1e3 * median.claimed,
                     1e3 * median.seen);
}

}  // namespace tune
