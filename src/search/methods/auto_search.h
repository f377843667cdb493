#pragma once
#include <vector>

#include "search/methods/bayes.h"
#include "search/methods/model_picks.h"
#include "search/methods/step_search.h"

namespace tune::search {

/// The options of the default strategy.
struct AutoOptions {
  int design = 10;    ///< the number of points spread over the space first
  int patience = 20;  ///< after this many points without a new best, crosses and random points are tried too
  int picks = 8;      ///< the number of points that a prior may choose
};

/// The default strategy, a portfolio for any number of points. It starts with a space-filling design and goes on with a
/// small, cheap model of cost and failure. Once the model has found nothing better for a while, every third point is a
/// cross of two of the best points followed by a step or two, and every twelfth point is random. With a prior, which
/// predicts costs before any is known, the first points are those of ModelPicks as long as it can be trusted.
class Auto : public Search {
 public:
  /// `specs` and `prior`, which may be null but not empty, must outlive this.
  Auto(const ValidSpecs& specs, std::uint64_t seed, AutoOptions options, const Prior* prior = nullptr);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override;
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  std::optional<Point> pick();
  std::optional<Point> cross();

  AutoOptions options_;
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

}  // namespace tune::search
