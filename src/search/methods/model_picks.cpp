#include "search/methods/model_picks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/methods/portable_math.h"

namespace tune::search {
namespace {

constexpr std::size_t kMostTried = 64;
constexpr double kBoldness = 0.3;     // deviations by which a point may be better than expected
constexpr double kUsualError = 0.15;  // of a right model's logarithms
constexpr double kUsualSpread = 0.4;  // of the logarithms of costs among specs
constexpr double kSureness = 4;       // how many results these two figures are worth
constexpr double kLossOfFailure = 1;  // a failed point is as bad as one that takes e times as long
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ModelPicks::ModelPicks(const Prior& prior)
    : prior_(&prior),
      coordinate_system_(prior.specs().space()),
      kernel_(coordinate_system_.axes()),
      process_(kernel_, kMostTried, prior.ranked().size()),
      taken_(prior.ranked().size()) {
  for (std::size_t rank = 0; rank < prior.ranked().size(); ++rank)
    process_.set_candidate(rank, coordinate_system_(prior.specs().at(prior.ranked()[rank].index)), outputs_);
}

std::optional<Point> ModelPicks::best() const {
  const auto ranked = prior_->ranked();
  const double spread =
      known_ == 0 ? kUsualError * kUsualError
                  : (outputs_[0].scale() * static_cast<double>(known_) + kSureness * kUsualError * kUsualError) /
                        (static_cast<double>(known_) + kSureness);
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
    if (taken_[rank]) continue;
    const double wrong_by = known_ == 0 ? 0 : outputs_[0].mean(rank);
    const double cost = ranked[rank].log_cost + wrong_by - kBoldness * std::sqrt(spread * process_.variance(rank));
    if (best && cost >= least) continue;
    least = cost;
    best = rank;
  }
  if (!best) return std::nullopt;
  return prior_->specs().at(ranked[*best].index);
}

double ModelPicks::evidence(const GaussianProcess::Output& output, double spread) const {
  const auto count = static_cast<double>(known_);
  const double misfit = output.scale() * count;
  return -0.5 * (kSureness + count) * natural_log(1 + misfit / (kSureness * spread * spread)) -
         count * natural_log(spread);
}

double ModelPicks::trust() const {
  const double with = evidence(outputs_[0], kUsualError), without = evidence(outputs_[1], kUsualSpread);
  return 1 / (1 + exponential(without - with));
}

void ModelPicks::note(const Point& point) {
  const auto predicted = prior_->log_cost(point);
  if (!predicted || process_.full()) return;
  const std::int64_t index = *prior_->specs().index_of(point);
  const auto rank = std::ranges::find(prior_->ranked(), index, &Prior::Ranked::index);
  if (rank != prior_->ranked().end()) taken_[static_cast<std::size_t>(rank - prior_->ranked().begin())] = true;
  tried_.push_back({point, *predicted});
  process_.add_points(coordinate_system_(point));
  learn();
}

void ModelPicks::tell(const Point& point, std::optional<double> cost) {
  const auto found = std::ranges::find(tried_, point, &Tried::point);
  if (found == tried_.end()) return;
  ++known_;
  found->failed = !cost || *cost == 0;
  // More is better where costs are negative.
  if (!found->failed) found->cost = *cost > 0 ? natural_log(*cost) : -natural_log(-*cost);
  learn();
}

void ModelPicks::learn() {
  if (known_ == 0) return;
  double error = 0, cost = 0, measured = 0;
  for (const Tried& each : tried_) {
    if (!each.cost) continue;
    error += *each.cost - each.predicted;
    cost += *each.cost;
    ++measured;
  }
  std::vector<double> errors, costs;
  for (const Tried& each : tried_) {
    const double otherwise = each.failed ? kLossOfFailure : kNotKnown;
    errors.push_back(each.cost ? *each.cost - each.predicted - error / measured : otherwise);
    costs.push_back(each.cost ? *each.cost - cost / measured : otherwise);
  }
  process_.set_targets(outputs_[0], errors);
  process_.set_targets(outputs_[1], costs);
}

}  // namespace tune::search
