#pragma once
#include <span>
#include <vector>

#include "search/methods/covariance_kernel.h"

namespace tune::search {

/// Predicts the mean and variance of a function at a fixed number of candidates from its values at some points. The
/// predictions are updated as points arrive one by one, each in time proportional to points x (points + candidates).
class GaussianProcess {
 public:
  /// `kernel` must outlive this. After the kernel is fitted again, call clear() and add the points again.
  GaussianProcess(const CovarianceKernel& kernel, std::size_t most_points, std::size_t candidates);

  void clear();
  std::size_t points() const { return points_; }
  bool full() const { return points_ == most_points_; }
  std::size_t candidates() const { return candidates_; }

  /// `coordinates` holds rows of kernel.axes() coordinates. Precondition: there is room for them. Until their targets
  /// are set, they are taken to be the predictions.
  void add_points(std::span<const Coordinate> coordinates);

  /// One of several functions with the same covariance: its targets and predicted means.
  class Output {
   public:
    double mean(std::size_t slot) const { return means_[slot]; }
    /// The function's variance that explains the targets best.
    double scale() const { return scale_; }

   private:
    friend class GaussianProcess;
    std::vector<double> targets_, solved_, means_;
    double scale_ = 1;
  };
  /// A NaN target is unknown and taken to be its prediction. The call is cheap if targets were only appended.
  void set_targets(Output& output, std::span<const double> targets);

  /// Puts a candidate into one of the slots 0 to candidates() - 1.
  void set_candidate(std::size_t slot, std::span<const Coordinate> coordinates, std::span<Output> outputs);

  /// Relative to the functions' own variances.
  double variance(std::size_t slot) const { return variances_[slot]; }

 private:
  static constexpr std::size_t kBlock = 32;

  void factor_point(std::size_t row);
  void extend_block(std::size_t block, std::size_t first_row);
  void append_target(Output& output, double target);
  double* factor_column(std::size_t column) { return &factor_[column * most_points_]; }
  /// The row of a point in factor^-1 * similarities, for a block of candidates.
  double* cross(std::size_t block, std::size_t row) { return &cross_[(block * most_points_ + row) * kBlock]; }
  const Coordinate* point(std::size_t row) const { return &point_coordinates_[row * kernel_->axes()]; }

  const CovarianceKernel* kernel_;
  std::size_t most_points_, candidates_;
  std::size_t points_ = 0;
  std::vector<Coordinate> point_coordinates_, candidate_coordinates_;
  std::vector<double> factor_;  ///< Cholesky factor of the points' similarities, by columns
  std::vector<double> cross_;   ///< by blocks of candidates, so that a block stays in the cache
  std::vector<double> variances_;
  std::vector<double> row_;  ///< scratch
};

}  // namespace tune::search
