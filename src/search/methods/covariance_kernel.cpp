#include "search/methods/covariance_kernel.h"

#include <cmath>

#include "search/methods/portable_math.h"

namespace tune::search {
namespace {

/// Inverse length scales: how fast the similarity falls over the whole length of an axis.
constexpr std::array kScaleValues = {0.1, 0.2, 0.4, 0.7, 1.2, 2.0, 3.5, 6.0, 10.0, 20.0};
constexpr std::size_t kFirstScale = 4;
constexpr std::array kNoises = {0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3};
constexpr double kFirstNoise = 0.01;
constexpr double kScalePrior = 0.5;  ///< inverse variance of a scale's logarithm
constexpr double kNoisePrior = 0.05;
constexpr int kRounds = 2;
constexpr double kUsualFactorsOfTwo = 4;  ///< a difference of this many has the length of a whole axis
constexpr double kTiny = 1e-12;

double matern(double distance) {
  const double r = 2.23606797749979 * distance;
  return (1 + r + r * r / 3) * exponential(-r);
}

}  // namespace

CovarianceKernel::CovarianceKernel(std::span<const CoordinateSystem::Axis> axes, double alone)
    : alone_(alone), noise_(kFirstNoise) {
  auto choices = std::make_unique<Tables>();
  for (std::size_t s = 0; s < kScales; ++s) {
    for (std::size_t apart = 0; apart < kPositions; ++apart) {
      choices->by_position[s][apart] = matern(static_cast<double>(apart) / (kPositions - 1) * kScaleValues[s]);
      choices->by_equality[s][apart] = apart == 0 ? 1 : matern(kScaleValues[s]);
    }
    for (std::size_t apart = 0; apart < kFactorsOfTwo; ++apart)
      choices->by_factors_of_two[s][apart] = matern(static_cast<double>(apart) / kUsualFactorsOfTwo * kScaleValues[s]);
  }
  choices_ = std::move(choices);
  for (const CoordinateSystem::Axis& axis : axes) {
    tables_.push_back({axis.categorical, axis.by_factors_of_two, kFirstScale, kFirstScale, nullptr, nullptr});
    choose_tables(tables_.back());
  }
}

void CovarianceKernel::choose_tables(Table& table) const {
  const auto& tables = table.categorical ? choices_->by_equality : choices_->by_position;
  table.by_position = tables[table.position_scale].data();
  table.by_factors_of_two = choices_->by_factors_of_two[table.factors_of_two_scale].data();
}

// The logarithm of the likelihood up to a constant, for the best variance of the function. The Cholesky factorisation
// goes by columns, so that inner loops access memory in order and contain no sums that a compiler could reorder.
double CovarianceKernel::likelihood(std::span<const Coordinate> coordinates, std::span<const double> targets) {
  const std::size_t n = targets.size();
  matrix_.resize(n * n);
  rest_.assign(targets.begin(), targets.end());
  for (std::size_t j = 0; j < n; ++j) {
    matrix_[j * n + j] = 1 + noise_;
    for (std::size_t i = j + 1; i < n; ++i)
      matrix_[j * n + i] = similarity(&coordinates[i * axes()], &coordinates[j * axes()]);
  }
  double log_determinant = 0, misfit = 0;
  for (std::size_t j = 0; j < n; ++j) {
    double* const column = &matrix_[j * n];
    const double pivot = std::sqrt(std::max(column[j], kTiny));
    log_determinant += natural_log(pivot);
    for (std::size_t i = j; i < n; ++i) column[i] /= pivot;
    const double solved = rest_[j] / pivot;
    misfit += solved * solved;
    for (std::size_t i = j + 1; i < n; ++i) rest_[i] -= column[i] * solved;
    for (std::size_t k = j + 1; k < n; ++k) {
      double* const other = &matrix_[k * n];
      const double factor = column[k];
      for (std::size_t i = k; i < n; ++i) other[i] -= column[i] * factor;
    }
  }
  const auto count = static_cast<double>(n);
  return -0.5 * count * natural_log(std::max(misfit, kTiny) / count) - log_determinant;
}

double CovarianceKernel::prior() const {
  const auto penalty = [](double ratio, double weight) {
    const double distance = natural_log(ratio);
    return -0.5 * weight * distance * distance;
  };
  double sum = penalty(noise_ / kFirstNoise, 2 * kNoisePrior);
  for (const Table& table : tables_) {
    sum += penalty(kScaleValues[table.position_scale], kScalePrior);
    if (table.has_factors_of_two) sum += penalty(kScaleValues[table.factors_of_two_scale], kScalePrior);
  }
  return sum;
}

// Moves the scale up or down as long as the score improves.
template <typename Score>
bool CovarianceKernel::improve(Table& table, std::size_t Table::*scale, double& best, const Score& score) {
  const auto start = static_cast<std::ptrdiff_t>(table.*scale);
  std::ptrdiff_t chosen = start;
  for (const std::ptrdiff_t direction : {-1, 1}) {
    for (std::ptrdiff_t candidate = start + direction;
         candidate >= 0 && candidate < static_cast<std::ptrdiff_t>(kScales); candidate += direction) {
      table.*scale = static_cast<std::size_t>(candidate);
      choose_tables(table);
      const double value = score();
      if (value <= best) break;
      best = value;
      chosen = candidate;
    }
    if (chosen != start) break;
  }
  table.*scale = static_cast<std::size_t>(chosen);
  choose_tables(table);
  return chosen != start;
}

void CovarianceKernel::fit(std::span<const Coordinate> coordinates, std::span<const double> targets) {
  const auto score = [&] { return likelihood(coordinates, targets) + prior(); };
  double best = score();
  for (int round = 0; round < kRounds; ++round) {
    bool improved = false;
    for (Table& table : tables_) {
      improved |= improve(table, &Table::position_scale, best, score);
      if (table.has_factors_of_two) improved |= improve(table, &Table::factors_of_two_scale, best, score);
    }
    double chosen = noise_;
    for (const double noise : kNoises) {
      noise_ = noise;
      if (const double value = score(); value > best) {
        best = value;
        chosen = noise;
        improved = true;
      }
    }
    noise_ = chosen;
    if (!improved) return;
  }
}

}  // namespace tune::search
