#include <algorithm>

#include "search/methods/bayes.h"
#include "search/methods/methods.h"
#include "search/methods/model_picks.h"
#include "search/methods/portable_math.h"
#include "search/methods/step_search.h"

namespace tune::search {
namespace {

constexpr std::size_t kMembers = 12;
constexpr int kMostCrosses = 20;
constexpr int kCrossEvery = 3;
constexpr int kStrayEvery = 12;

// These sizes keep ask and tell below 0.3 ms per point.
BayesOptions small_model(int design) {
  BayesOptions options;
  options.design = design;
  options.points = 160;
  options.candidates = 320;
  options.renewed = 8;
  options.fit_points = 48;
  options.refit = 1.2;
  return options;
}

// Among points that no axis tells apart, as of a space with one spec, there is nothing to choose.
bool useful(const Prior* prior) {
  return prior != nullptr && !prior->ranked().empty() && !CoordinateSystem(prior->specs().space()).axes().empty();
}

/// The default strategy, a portfolio for any number of points. It starts with a space-filling design and goes on with a
/// small, cheap model of cost and failure. Once the model has found nothing better for a while, every third point is a
/// cross of two of the best points followed by a step or two, and every twelfth point is random. With a prior, which
/// predicts costs before any is known, the first points are those of ModelPicks as long as it can be trusted.
class Auto : public Search {
 public:
  /// `specs` and `prior`, which may be null but not empty, must outlive this.
  Auto(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed, const Prior* prior);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override;
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  std::optional<Point> pick();
  std::optional<Point> cross();

  int patience_;    ///< after this many points without a new best, crosses and random points are tried too
  int most_picks_;  ///< the number of points that a prior may choose
  Random random_;
  Neighbours moves_;
  Bayes model_;
  std::optional<ModelPicks> picks_;  ///< as long as they may be asked
  std::vector<Visited> best_;        ///< best first
  int since_best_ = 0;               ///< the number of results since the last improvement
  int turn_ = 0;
  int noted_ = 0;    ///< points that were asked for or claimed while there were picks
  int guesses_ = 0;  ///< asked for before two results were there
};

Auto::Auto(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed, const Prior* prior)
    : patience_(choice.whole("patience")),
      most_picks_(choice.whole("model")),
      random_(seed ^ 0x5bd1e995),
      moves_(specs),
      model_(specs, seed, small_model(choice.whole("design")), prior) {
  if (prior != nullptr) picks_.emplace(*prior);
}

bool Auto::claim(const Point& point) {
  if (!model_.claim(point)) return false;
  if (picks_) picks_->note(point);
  ++noted_;
  return true;
}

// As long as less than two results tell whether the prior is right, it gets every second point, and then as many as it
// is probably right. The others are spread over the space, whatever a wrong prior says.
std::optional<Point> Auto::pick() {
  if (noted_++ >= most_picks_) picks_.reset();
  if (!picks_) return model_.ask();
  const bool is_models = picks_->results() < 2 ? guesses_++ % 2 == 0 : chance(random_, picks_->trust());
  std::optional<Point> point;
  if (is_models) point = picks_->best();
  if (!point || !model_.claim(*point)) point = model_.spread();
  if (point) picks_->note(*point);
  return point;
}

std::optional<Point> Auto::ask() {
  if (picks_) return pick();
  if (since_best_ > patience_ && !best_.empty()) {
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

std::unique_ptr<Search> make_auto(const StrategyChoice& choice, const ValidSpecs& specs, std::uint64_t seed,
                                  const Prior* prior) {
  const bool begins_with_prior = choice.whole("model") > 0 && useful(prior);
  return std::make_unique<Auto>(choice, specs, seed, begins_with_prior ? prior : nullptr);
}

}  // namespace

Method auto_method() {
  return {{"auto", {whole("design", 4, 2), whole("patience", 20), whole("model", 8, 0)}}, make_auto};
}

}  // namespace tune::search
