#pragma once
#include <vector>

#include "search/methods/gaussian_process.h"
#include "search/prior.h"

namespace tune::search {

/// The first points of a search that has a model of cost. It takes the points of which the model expects most, learns
/// from each result how wrong the model is there and nearby, and finds out whether the model is right at all: whether
/// the results are likelier with it than without.
class ModelPicks {
 public:
  /// `prior` must outlive this.
  explicit ModelPicks(const Prior& prior);

  /// The most promising point that was not noted; nullopt: none is left.
  std::optional<Point> best() const;
  /// From 0, the model misleads, to 1: how probable it is that the model is right. Precondition: two results.
  double trust() const;
  std::size_t results() const { return known_; }

  /// A point that is being tried, wherever it is from.
  void note(const Point& point);
  void tell(const Point& point, std::optional<double> cost);

 private:
  struct Tried {
    Point point;
    double predicted = 0;             ///< logarithm
    std::optional<double> cost = {};  ///< likewise
    bool failed = false;
  };
  void learn();
  /// How probable the values are, as a logarithm, if they deviate from a common mean by about `spread`.
  double evidence(const GaussianProcess::Output& output, double spread) const;

  const Prior* prior_;
  CoordinateSystem coordinate_system_;
  CovarianceKernel kernel_;
  GaussianProcess process_;
  std::vector<GaussianProcess::Output> outputs_{2};  ///< what the model is wrong by; the costs themselves
  std::vector<bool> taken_;                          ///< by rank
  std::vector<Tried> tried_;
  std::size_t known_ = 0;
};

}  // namespace tune::search
