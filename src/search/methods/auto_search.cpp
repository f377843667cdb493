#include "search/methods/auto_search.h"

#include <algorithm>

#include "search/methods/portable_math.h"

namespace tune::search {
namespace {

constexpr std::size_t kMembers = 12;
constexpr int kMostCrosses = 20;
constexpr int kCrossEvery = 3;
constexpr int kStrayEvery = 12;

// These sizes keep ask and tell well below 0.2 ms per point.
BayesOptions small_model(int design) {
  BayesOptions options;
  options.design = design;
  options.points = 160;
  options.candidates = 320;
  options.renewed = 8;
  options.fit_points = 48;
  return options;
}

}  // namespace

Auto::Auto(const ValidSpecs& specs, std::uint64_t seed, AutoOptions options, const Prior* prior)
    : options_(options),
      random_(seed ^ 0x5bd1e995),
      moves_(specs),
      model_(specs, seed, small_model(options.design), prior) {
  if (prior != nullptr) picks_.emplace(*prior);
}

bool Auto::claim(const Point& point) {
  if (!model_.claim(point)) return false;
  if (picks_) picks_->note(point);
  ++noted_;
  return true;
}

// As long as less than two results tell whether the prior is right, it gets every second point, and then as many as it
// is probably right.
std::optional<Point> Auto::pick() {
  if (noted_++ >= options_.picks) picks_.reset();
  if (!picks_) return model_.ask();
  const bool is_models = picks_->results() < 2 ? guesses_++ % 2 == 0 : chance(random_, picks_->trust());
  std::optional<Point> point;
  if (is_models) point = picks_->best();
  if (!point || !model_.claim(*point)) point = model_.ask();
  if (point) picks_->note(*point);
  return point;
}

std::optional<Point> Auto::ask() {
  if (picks_) return pick();
  if (since_best_ > options_.patience && !best_.empty()) {
    ++turn_;
    std::optional<Point> point;
    if (turn_ % kStrayEvery == 0)
      point = model_.draw();
    else if (turn_ % kCrossEvery == 0)
      point = cross();
    if (point) return point;
  }
  return model_.ask();
}

std::optional<Point> Auto::cross() {
  for (int attempt = 0; attempt < kMostCrosses; ++attempt) {
    Point point = best_[random_.below(best_.size())].point;
    const Point& other = best_[random_.below(best_.size())].point;
    if (other.mapping == point.mapping)
      for (std::size_t i = 0; i < point.digits.size(); ++i)
        if (chance(random_, 0.5)) point.digits[i] = other.digits[i];
    point = moves_.mutated(std::move(point), static_cast<int>(1 + random_.below(2)), random_);
    if (model_.claim(point)) return point;
  }
  return std::nullopt;
}

void Auto::tell(const Point& point, std::optional<double> cost) {
  model_.tell(point, cost);
  if (picks_) picks_->tell(point, cost);
  ++since_best_;
  if (!cost) return;
  if (best_.empty() || *cost < best_.front().cost) since_best_ = 0;
  best_.insert(std::ranges::upper_bound(best_, *cost, {}, &Visited::cost), {point, *cost});
  if (best_.size() > kMembers) best_.pop_back();
}

}  // namespace tune::search
