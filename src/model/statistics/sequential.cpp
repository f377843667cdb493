#include "model/statistics/sequential.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tune {
namespace {

// Nine signs are the fewest that can tell two specs apart, sixteen the fewest for 24 specs. From there on each look has
// a quarter more values than the last, up to what the user's patience and the drift of the device allow.
constexpr std::array<int, 16> kLooks = {9, 10, 11, 12, 13, 14, 15, 16, 20, 25, 31, 39, 49, 62, 79, 101};

double spent_at(double level, int count) {
  const double share = static_cast<double>(count) / kLooks.back();
  return level * std::log1p((std::numbers::e - 1) * share);
}

/// Adds one fair sign: `chances[i]` is the probability that i values so far are below the median.
void add_sign(std::vector<double>& chances) {
  for (std::size_t i = chances.size(); i-- > 1;) chances[i] = (chances[i] + chances[i - 1]) / 2;
  chances[0] /= 2;
}

}  // namespace

SequentialIntervals::SequentialIntervals(double level) {
  std::vector<double> chances(kLooks.back() + 1, 0.0);
  chances[0] = 1;
  double spent = 0;
  int count = 0;
  for (const int look : kLooks) {
    for (; count < look; ++count) add_sign(chances);
    std::size_t rank = 0;
    for (; spent + chances[rank] <= spent_at(level, look); ++rank) {
      spent += chances[rank];
      chances[rank] = 0;
    }
    ranks_.push_back(static_cast<int>(rank));
  }
}

std::span<const int> SequentialIntervals::looks() { return kLooks; }

int SequentialIntervals::fewest() const {
  const auto first = std::ranges::find_if(ranks_, [](int rank) { return rank > 0; });
  return kLooks[static_cast<std::size_t>(first - ranks_.begin())];
}

std::optional<Interval> SequentialIntervals::of(std::span<const double> values) const {
  const auto beyond = std::ranges::upper_bound(kLooks, values.size(), std::less(),
                                               [](int look) { return static_cast<std::size_t>(look); });
  if (beyond == kLooks.begin()) return std::nullopt;
  const auto look = static_cast<std::size_t>(beyond - kLooks.begin()) - 1;
  const auto rank = static_cast<std::size_t>(ranks_[look]);
  if (rank == 0) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.begin() + kLooks[look]);
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[rank - 1], sorted[sorted.size() - rank]};
}

}  // namespace tune
