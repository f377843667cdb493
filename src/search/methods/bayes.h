#pragma once
#include <deque>
#include <vector>

#include "search/methods/design.h"
#include "search/methods/gaussian_process.h"
#include "search/methods/neighbours.h"
#include "search/prior.h"

namespace tune::search {

/// The options of Bayesian optimisation.
struct BayesOptions {
  int design = 10;        ///< the number of points spread over the space before the model is used
  int points = 1000;      ///< the most points in the model; beyond that, the best and some others are kept
  int candidates = 1000;  ///< the number of points compared at a time
  int renewed = 50;       ///< how many of these are replaced after every choice
  int fit_points = 150;   ///< the most points to which the scales are fitted
  double refit = 1.4;     ///< the scales are fitted again when the number of points has grown by this factor
};

/// Bayesian optimisation: one Gaussian process models the logarithm of the cost, another one whether a point fails. The
/// next point is chosen from a pool of random points and steps from the best points; it is the one with the largest
/// expected improvement, weighted with the probability that it does not fail.
class Bayes : public Search {
 public:
  /// `specs` and `prior`, which may be null, must outlive this.
  Bayes(const ValidSpecs& specs, std::uint64_t seed, BayesOptions options, const Prior* prior = nullptr);

  std::optional<Point> ask() override;
  bool claim(const Point& point) override;
  void tell(const Point& point, std::optional<double> cost) override;

  /// The next of a space-filling design, whatever is known of costs.
  std::optional<Point> spread();
  /// A random one.
  std::optional<Point> draw() { return note(untried_.draw(random_)); }

 private:
  enum class State { out, measured, failed };
  struct Observation {
    Point point;
    std::vector<Coordinate> coordinates;
    State state = State::out;
    double cost = 0;
  };
  /// Maps costs to targets of the model: logarithms, with bad costs compressed, centred and scaled.
  struct Warp {
    bool logarithmic = true;
    double sign = 1;
    double low = 0, spread = 1;
    double mean = 0, deviation = 1;
    double raw(double cost) const;
    double bent(double cost) const;
    double operator()(double cost) const { return (bent(cost) - mean) / deviation; }
  };

  /// A point that may be chosen next, and what its values' odd parts say of its cost.
  struct Candidate {
    std::int64_t index = 0;
    double expected = 0;
  };

  bool ready() const;
  double expected(std::span<const Coordinate> coordinates) const;
  std::optional<Point> note(std::optional<Point> point);
  void rebuild();
  void fit();
  void fit_odd_cost(std::span<const Coordinate> coordinates, std::span<const double> targets);
  std::vector<std::size_t> kept_rows() const;
  std::vector<std::size_t> best_first() const;
  void set_warp();
  void set_targets();
  void queue_steps(const Point& point);
  void empty(std::size_t slot);
  void fill(std::size_t slot);
  std::optional<std::int64_t> fresh();
  std::vector<double> scores() const;
  void renew(std::vector<double> scores);

  BayesOptions options_;
  bool has_prior_;
  double odd_cost_;           ///< expected of each octave of a value's odd part
  double usual_octaves_ = 0;  ///< of the points in the last fit
  Random random_;
  Untried untried_;
  CoordinateSystem coordinate_system_;
  Neighbours moves_;
  Design design_;
  CovarianceKernel kernel_;
  GaussianProcess process_;

  std::vector<Observation> observations_;
  std::size_t measured_ = 0, failed_ = 0;
  std::vector<std::size_t> rows_;  ///< observations in the process
  std::size_t next_fit_ = 0;
  bool stale_warp_ = true;
  std::optional<std::size_t> best_;
  Warp warp_;
  std::vector<GaussianProcess::Output> outputs_{2};  ///< cost, failing
  std::vector<std::optional<Candidate>> slots_;
  std::unordered_set<std::int64_t> pooled_;  ///< the same as a set
  std::deque<Point> queue_;                  ///< points that become candidates next
};

}  // namespace tune::search
