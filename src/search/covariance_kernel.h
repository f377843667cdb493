#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "search/coordinates.h"

namespace tune {

/// How alike two points' costs are expected to be: a product over the axes of Matern 5/2 functions of the distance,
/// once in position and, where that says more, once in twos. All are tabulated, so that one similarity costs a few
/// lookups.
class Kernel {
 public:
  explicit Kernel(std::span<const Coordinates::Axis> axes);

  std::size_t axes() const { return tables_.size(); }
  /// 1 for equal places, towards 0 for distant ones.
  double similarity(const Place* a, const Place* b) const {
    double product = 1;
    for (const Table& table : tables_) {
      const int apart = a->position - b->position;
      product *= table.by_position[apart < 0 ? -apart : apart];
      if (table.has_twos) product *= table.by_twos[a->twos > b->twos ? a->twos - b->twos : b->twos - a->twos];
      ++a;
      ++b;
    }
    return product;
  }
  /// Variance of a measurement around the function, relative to the function's own.
  double noise() const { return noise_; }

  /// Chooses scales and noise that explain the targets best (marginal likelihood, coordinate search over a grid).
  /// `places` holds one row of axes() per target; the targets' mean should be near 0.
  void fit(std::span<const Place> places, std::span<const double> targets);

 private:
  static constexpr std::size_t kScales = 10;
  struct Table {
    bool categorical = false;
    bool has_twos = false;
    std::size_t position_scale = 0;
    std::size_t twos_scale = 0;
    const double* by_position = nullptr;  ///< by distance
    const double* by_twos = nullptr;
  };
  /// What all axes choose their tables from.
  struct Tables {
    std::array<std::array<double, kPositions>, kScales> by_position;
    std::array<std::array<double, kTwos>, kScales> by_twos;
    std::array<std::array<double, kPositions>, kScales> by_equality;
  };

  void choose_tables(Table& table) const;
  double likelihood(std::span<const Place> places, std::span<const double> targets);
  double prior() const;
  template <typename Score>
  bool improve(Table& table, std::size_t Table::*scale, double& best, const Score& score);

  std::unique_ptr<const Tables> choices_;
  std::vector<Table> tables_;
  double noise_;
  std::vector<double> matrix_;  ///< scratch
  std::vector<double> rest_;
};

}  // namespace tune
