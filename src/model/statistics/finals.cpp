#include "model/statistics/finals.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tune {
namespace {

constexpr double kError = 0.05;

/// Either of a pair may be the one that is misjudged (Bonferroni).
double level_of(std::size_t specs) {
  const auto count = static_cast<double>(std::max<std::size_t>(specs, 2));
  return kError / (count * (count - 1));
}

std::vector<double> seconds_of(const Finalist& finalist) {
  std::vector<double> seconds;
  for (const auto& [round, value] : finalist.rounds) seconds.push_back(value);
  return seconds;
}

bool is_far_behind(std::span<const double> ratios) {
  constexpr double kLeast = 0.01, kSpreads = 4;
  if (ratios.size() < Judge::kFewest) return false;
  const auto [low, high] = std::ranges::minmax(ratios);
  return low - 1 > std::max(kLeast, kSpreads * (high - low));
}

}  // namespace

bool is_vendor(const std::string& label) { return label == "vendor" || label == "vendor best"; }

bool finished(const Finalist& finalist) {
  return !finalist.failure && !finalist.rounds.empty() &&
         std::ranges::all_of(finalist.rounds, [](const auto& round) { return is_valid_time(round.second); });
}

double median_seconds(const Finalist& finalist) { return median(seconds_of(finalist)); }

double relative_width(const Finalist& finalist) {
  return relative_width(median_interval(seconds_of(finalist)), median_seconds(finalist));
}

std::vector<double> paired_ratios(const Finalist& finalist, const Finalist& other) {
  std::vector<double> ratios;
  for (const auto& [round, seconds] : finalist.rounds)
    if (const auto found = other.rounds.find(round); found != other.rounds.end())
      ratios.push_back(seconds / found->second);
  return ratios;
}

Judge::Judge(std::size_t specs) : intervals_(level_of(specs)) {}

const Finalist& Judge::leader_of(std::span<const Finalist* const> specs) {
  assert(!specs.empty());
  return **std::ranges::min_element(
      specs, {}, [](const Finalist* spec) { return std::pair(spec->eliminated_after > 0, median_seconds(*spec)); });
}

std::optional<Interval> Judge::ratio_interval(const Finalist& spec, const Finalist& leader) const {
  return intervals_.of(paired_ratios(spec, leader));
}

Verdict Judge::verdict(const Finalist& spec, const Finalist& leader) const {
  if (&spec == &leader) return Verdict::equivalent;
  if (spec.eliminated_after > 0) return Verdict::lost;
  const std::vector<double> ratios = paired_ratios(spec, leader);
  if (is_far_behind(ratios)) return Verdict::lost;
  const auto interval = intervals_.of(ratios);
  if (!interval) return Verdict::open;
  if (interval->low > 1 + kEquivalence) return Verdict::lost;
  if (interval->low >= 1 - kEquivalence && interval->high <= 1 + kEquivalence) return Verdict::equivalent;
  return interval->low > 1 ? Verdict::slower : Verdict::open;
}

}  // namespace tune
