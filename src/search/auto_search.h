#pragma once
#include <vector>

#include "search/bayes.h"
#include "search/step_search.h"

namespace tune {

struct AutoOptions {
  int design = 10;    ///< points spread over the space first
  int patience = 20;  ///< points without a new best, after which others than the model have a say too
};

/// The default, a portfolio for any number of points: a spread design, then a small model of cost and failure that is
/// cheap to ask; once it finds nothing better for a while, every third point is a cross of the best ones with a step or
/// two by the kinds of the parameters, and every twelfth is random.
class Auto : public Search {
 public:
  /// `specs` must outlive this.
  Auto(const ValidSpecs& specs, std::uint64_t seed, AutoOptions options);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override { return model_.claim(point); }
  void tell(const Point& point, std::optional<double> cost) override;

 private:
  std::optional<Point> cross();

  AutoOptions options_;
  Random random_;
  Moves moves_;
  Bayes model_;
  std::vector<Visited> best_;  ///< best first
  int since_best_ = 0;         ///< points told since the last improvement
  int turn_ = 0;
};

}  // namespace tune
