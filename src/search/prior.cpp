#include "search/prior.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "search/methods/neighbours.h"
#include "search/methods/portable_math.h"

namespace tune::search {
namespace {

constexpr std::int64_t kMostLookedAt = 200'000, kSampledPoints = 20'000;
constexpr std::size_t kMostRanked = 4096, kMostFollowed = 100;
constexpr double kSpan = 2.772588722239781;  // the logarithm of 16

void sort(std::vector<Prior::Ranked>& ranked) {
  std::ranges::sort(ranked, [](const Prior::Ranked& a, const Prior::Ranked& b) {
    return a.log_cost != b.log_cost ? a.log_cost < b.log_cost : a.index < b.index;
  });
}

}  // namespace

Prior::Prior(const ValidSpecs& specs, Predict predict) : specs_(&specs), predict_(std::move(predict)) {
  if (specs.size() > kMostLookedAt)
    rank_sample();
  else
    for (std::int64_t index = 0; index < specs.size(); ++index) rank(index);
  sort(ranked_);
  if (ranked_.size() > kMostRanked) ranked_.resize(kMostRanked);
}

void Prior::rank(std::int64_t index) {
  if (const auto log_cost = this->log_cost(specs_->at(index))) ranked_.push_back({index, *log_cost});
}

void Prior::rank_sample() {
  Random random(1);
  std::unordered_set<std::int64_t> seen;
  for (std::int64_t i = 0; i < kSampledPoints; ++i)
    if (const std::int64_t index = specs_->sample(random); seen.insert(index).second) rank(index);
  sort(ranked_);
  const Neighbours moves(*specs_);
  const std::vector<Ranked> best(
      ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(std::min(kMostFollowed, ranked_.size())));
  for (const Ranked& each : best)
    for (const Point& step : moves.around(specs_->at(each.index)))
      if (const std::int64_t index = *specs_->index_of(step); seen.insert(index).second) rank(index);
}

std::optional<double> Prior::log_cost(const Point& point) const {
  const std::int64_t index = *specs_->index_of(point);
  const auto [known, is_new] = known_.try_emplace(index);
  if (!is_new) return known->second;
  const auto cost = predict_(point);
  // Rounded, because the last digits of a prediction may differ between machines.
  if (cost && *cost > 0 && std::isfinite(*cost)) known->second = std::floor(natural_log(*cost) * 1e9 + 0.5) * 1e-9;
  return known->second;
}

Coordinate Prior::coordinate(const Point& point) const {
  const auto cost = log_cost(point);
  if (!cost || ranked_.empty()) return {kPositions - 1, 0};
  const double along = std::clamp((*cost - ranked_.front().log_cost) / kSpan, 0.0, 1.0);
  return {static_cast<std::uint16_t>(along * (kPositions - 1) + 0.5), 0};
}

}  // namespace tune::search
