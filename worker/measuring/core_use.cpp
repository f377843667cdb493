#include "measuring/core_use.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/statistics/finals.h"
#include "model/statistics/stats.h"

namespace tune::worker {
namespace {

constexpr double kLeastShare = 1e-3;      // of the time
constexpr double kOtherThreads = 0.02;    // of what all computed, from which on there are threads beside the first
constexpr double kEndedThreads = 0.05;    // the same, if they have ended
constexpr double kAroundLaunch = 0.2e-3;  // seconds that a thread waits while the process is continued and stopped
constexpr double kStolenStep = 10e-3;     // seconds in which stolen ones are counted
constexpr double kLostInSharing = 0.05;   // of the time, from which on a core was shared for long
constexpr double kWhole = 0.05;           // of a thread, by which parallel work may exceed a whole number of them

bool has_threads(const CoreUse& use) {
  return use.computed - use.first_computed > (use.threads > 1 ? kOtherThreads : kEndedThreads) * use.computed;
}

/// How many threads compute at a time, as far as it is known.
double width_of(std::span<const CoreUse> uses) {
  double width = 1;
  for (const CoreUse& use : uses)
    if (has_threads(use))
      width = std::max({width, 2.0, static_cast<double>(use.threads), std::ceil(use.computed / use.seconds - kWhole)});
  return width;
}

/// How many cores other programs took while these were timed, on average.
double others_on_average(std::span<const CoreUse> uses) {
  double sum = 0, samples = 0;
  for (const CoreUse& use : uses) {
    sum += use.others.value_or(0);
    samples += use.others ? 1 : 0;
  }
  return samples > 0 ? sum / samples : 0;
}

/// What the host, which took so many seconds in all, may have taken of the time of a single thread.
double lost_to_host(const CoreUse& use, double stolen) {
  if (stolen <= 0) return 0;
  return std::clamp(use.seconds - use.first_waited - use.computed, 0.0, stolen + kStolenStep);
}

/// What was lost because threads that are still there waited though there is a core for each: the system had put
/// several on one. Those that had it may have spun there as long, until the others had done their part.
double lost_on_shared_core(const CoreUse& use, double cores) {
  const auto threads = static_cast<double>(use.threads);
  if (threads > cores) return 0;
  return 2 * (use.first_waited + std::max(use.others_waited - (threads - 1) * kAroundLaunch, 0.0));
}

}  // namespace

bool threads_lacked_cores(std::span<const CoreUse> uses, double cores, const platform::Stolen& stolen) {
  const double taken = others_on_average(uses) + stolen.cores, width = width_of(uses);
  return width > 1 && taken >= kBusy && taken + width > cores;
}

double clean_seconds(std::span<const CoreUse> uses, double cores, const platform::Stolen& stolen, const wire::Go& go) {
  if (uses.empty()) return 0;
  const bool disturbed = threads_lacked_cores(uses, cores, stolen);
  std::vector<double> seconds, on_shared_core;
  for (const CoreUse& use : uses) {
    double clean = use.seconds, lost = 0;
    if (!has_threads(use))
      clean -= use.first_waited + lost_to_host(use, stolen.seconds);
    else if (disturbed)
      clean = std::min(clean - use.first_waited - use.others_waited, use.computed / cores);
    else if (use.threads > 1)
      lost = lost_on_shared_core(use, cores);
    (lost > kLostInSharing * use.seconds ? on_shared_core : seconds)
        .push_back(std::max(clean - lost, kLeastShare * use.seconds));
  }
  if (go.launches <= 0) return std::ranges::min(seconds.empty() ? on_shared_core : seconds);
  seconds.insert(seconds.end(), on_shared_core.begin(), on_shared_core.end());
  return median(seconds);
}

}  // namespace tune::worker
