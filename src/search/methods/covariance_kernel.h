#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "search/coordinates.h"

namespace tune::search {

/// The covariance of a Gaussian process: how similar the costs of two points are expected to be. Along each axis that
/// is a Matern 5/2 function of the distance in position, times one of the difference in factors of two where that tells
/// something more. The mean over the axes stands for the share of the cost that is a sum of what each axis does
/// `alone`, which few points tell, and their product for what the axes do only together. All functions are tabulated,
/// so that one similarity costs a few lookups.
class CovarianceKernel {
 public:
  explicit CovarianceKernel(std::span<const CoordinateSystem::Axis> axes, double alone = 0);

  std::size_t axes() const { return tables_.size(); }
  /// 1 for equal coordinates, towards 0 for distant ones. Precondition: there are axes.
  double similarity(const Coordinate* a, const Coordinate* b) const {
    double sum = 0, product = 1;
    for (const Table& table : tables_) {
      const int apart = a->position - b->position;
      double along = table.by_position[apart < 0 ? -apart : apart];
      if (table.has_factors_of_two) {
        const int factors_apart = a->factors_of_two - b->factors_of_two;
        along *= table.by_factors_of_two[factors_apart < 0 ? -factors_apart : factors_apart];
      }
      sum += along;
      product *= along;
      ++a;
      ++b;
    }
    return product + alone_ * (sum / static_cast<double>(axes()) - product);
  }
  /// Variance of a measurement around the function, relative to the function's own.
  double noise() const { return noise_; }

  /// The logarithm of the likelihood of these targets, up to a constant, with the scales and the noise of now.
  /// `coordinates` holds one row of axes() per target; the targets' mean should be near 0.
  double likelihood(std::span<const Coordinate> coordinates, std::span<const double> targets);
  /// Chooses scales and noise that explain the targets best (marginal likelihood, coordinate search over a grid).
  void fit(std::span<const Coordinate> coordinates, std::span<const double> targets);

 private:
  static constexpr std::size_t kScales = 10;
  struct Table {
    bool categorical = false;
    bool has_factors_of_two = false;
    std::size_t position_scale = 0;
    std::size_t factors_of_two_scale = 0;
    const double* by_position = nullptr;  ///< by distance
    const double* by_factors_of_two = nullptr;
  };
  /// What all axes choose their tables from.
  struct Tables {
    std::array<std::array<double, kPositions>, kScales> by_position;
    std::array<std::array<double, kFactorsOfTwo>, kScales> by_factors_of_two;
    std::array<std::array<double, kPositions>, kScales> by_equality;
  };

  void choose_tables(Table& table) const;
  double prior() const;
  template <typename Score>
  bool improve(Table& table, std::size_t Table::*scale, double& best, const Score& score);

  std::unique_ptr<const Tables> choices_;
  std::vector<Table> tables_;
  double alone_, noise_;
  std::vector<double> matrix_;  ///< scratch
  std::vector<double> rest_;
};

}  // namespace tune::search
