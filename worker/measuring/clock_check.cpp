#include "measuring/clock_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace tune::worker {
namespace {

constexpr double kPrecision = 0.005;

double counted(const TimedLaunch& launch, double excusable) { return launch.seen - std::min(launch.waited, excusable); }

}  // namespace

std::optional<std::string> clock_contradiction(std::vector<TimedLaunch> launches, double allowance, double excusable) {
  if (launches.empty()) return std::nullopt;
  std::ranges::sort(launches, {}, &TimedLaunch::claimed);
  launches.resize((launches.size() + 1) / 2);
  const TimedLaunch median = launches.back();
  // What of the judge's time the claim does not explain.
  const auto excess = [excusable](const TimedLaunch& launch) {
    return counted(launch, excusable) - (1 + kPrecision) * launch.claimed;
  };
  std::ranges::sort(launches, {}, excess);
  if (excess(launches[launches.size() / 4]) <= allowance) return std::nullopt;
  return fmt::format(
      "the kernel's process reports {:.4g} ms for launches that took {:.4g} ms until nothing of it ran: "
      "a kernel has to end its work before it returns, and must not change the clock",
      1e3 * median.claimed, 1e3 * counted(median, excusable));
}

}  // namespace tune::worker
