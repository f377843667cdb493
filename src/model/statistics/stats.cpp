#include "model/statistics/stats.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace tune {
namespace {

constexpr double kTail = 0.025;  // each side of a 95 % interval
constexpr double kFence = 1.5;   // distances of the quartiles

/// The largest rank r (1-based) with P(Binomial(n, 1/2) < r) <= 2.5 %; 0 if there is none. Exact while 2^-n is a
/// normal number, beyond that by the normal approximation, which is then right to one rank.
std::int64_t lower_rank(std::int64_t count) {
  constexpr std::int64_t kExactLimit = 1000;
  const auto n = static_cast<double>(count);
  if (count > kExactLimit) return static_cast<std::int64_t>(std::floor((n - 1.959964 * std::sqrt(n)) / 2));
  double mass = std::exp2(-n);
  double below = 0;
  std::int64_t rank = 0;
  while (below + mass <= kTail) {
    below += mass;
    mass *= (n - static_cast<double>(rank)) / static_cast<double>(rank + 1);
    ++rank;
  }
  return rank;
}

double sorted_median(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : std::midpoint(sorted[middle - 1], sorted[middle]);
}

Interval sorted_interval(const std::vector<double>& sorted) {
  const auto rank =
      static_cast<std::size_t>(std::max<std::int64_t>(1, lower_rank(static_cast<std::int64_t>(sorted.size()))));
  return {sorted[rank - 1], sorted[sorted.size() - rank]};
}

/// The nearest-rank percentile: the smallest value with at least 95 % of the values at or below it.
double sorted_p95(const std::vector<double>& sorted) {
  const std::size_t rank = (sorted.size() * 95 + 99) / 100;
  return sorted[rank - 1];
}

/// From 0; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    ++end;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return ranks;
}

/// Below four launches, quartiles tell nothing.
void add_outliers(Timing& timing, const std::vector<double>& sorted) {
  const std::size_t count = sorted.size();
  std::size_t kept = count;
  if (count >= 4) {
    const double lower = sorted[count / 4], upper = sorted[count - 1 - count / 4];
    const double fence = upper + kFence * (upper - lower);
    kept = static_cast<std::size_t>(std::ranges::upper_bound(sorted, fence) - sorted.begin());
  }
  const std::vector<double> rest(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept));
  timing.outliers = static_cast<std::int64_t>(count - kept);
  timing.kept_median = sorted_median(rest);
  timing.kept_mean = std::accumulate(rest.begin(), rest.end(), 0.0) / static_cast<double>(kept);
}

}  // namespace

bool is_valid_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

double median(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  return sorted_median(values);
}

Interval median_interval(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  return sorted_interval(values);
}

std::optional<Interval> known_interval(const Timing& timing) {
  if (timing.count == 1 || timing.ci_high <= 0 || timing.typical() != timing.median) return std::nullopt;
  return Interval{timing.ci_low, timing.ci_high};
}

Estimate estimate_of(const Timing& timing) { return {timing.typical(), known_interval(timing)}; }

std::optional<double> relative_width(const Estimate& time) {
  if (!time.interval || is_vague(*time.interval)) return std::nullopt;
  return (time.interval->high - time.interval->low) / 2 / time.seconds;
}

double least_seconds(const Timing& timing) {
  const auto interval = known_interval(timing);
  return interval ? interval->low : timing.median;
}

Timing timing_of_figures(Timing timing) {
  if (timing.stopped_early) timing.chosen = least_seconds(timing);
  return timing;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> ranks = ranks_of(a), others = ranks_of(b);
  const double middle = (static_cast<double>(a.size()) - 1) / 2;
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    both += (ranks[i] - middle) * (others[i] - middle);
    of_a += (ranks[i] - middle) * (ranks[i] - middle);
    of_b += (others[i] - middle) * (others[i] - middle);
  }
  return of_a > 0 && of_b > 0 ? both / std::sqrt(of_a * of_b) : 0;
}

Timing summarize(std::span<const double> seconds, bool stopped_early) {
  assert(!seconds.empty());
  std::vector<double> sorted(seconds.begin(), seconds.end());
  std::sort(sorted.begin(), sorted.end());
  const Interval interval = sorted_interval(sorted);
  Timing timing;
  timing.count = static_cast<std::int64_t>(sorted.size());
  timing.median = sorted_median(sorted);
  timing.min = sorted.front();
  timing.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  timing.p95 = sorted_p95(sorted);
  timing.ci_low = interval.low;
  timing.ci_high = interval.high;
  timing.stopped_early = stopped_early;
  add_outliers(timing, sorted);
  return timing;
}

}  // namespace tune
