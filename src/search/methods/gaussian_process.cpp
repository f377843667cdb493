#include "search/methods/gaussian_process.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace tune::search {
namespace {

constexpr double kLeastVariance = 1e-9;

}  // namespace

GaussianProcess::GaussianProcess(const CovarianceKernel& kernel, std::size_t most_points, std::size_t candidates)
    : kernel_(&kernel),
      most_points_(most_points),
      candidates_(candidates),
      point_coordinates_(most_points * kernel.axes()),
      candidate_coordinates_(candidates * kernel.axes()),
      factor_(most_points * most_points),
      cross_((candidates + kBlock - 1) / kBlock * kBlock * most_points),
      variances_(candidates),
      row_(most_points) {
  clear();
}

void GaussianProcess::clear() {
  points_ = 0;
  std::ranges::fill(variances_, 1 + kernel_->noise());
}

void GaussianProcess::add_points(std::span<const Coordinate> coordinates) {
  const std::size_t first = points_, count = coordinates.size() / kernel_->axes();
  assert(first + count <= most_points_);
  std::ranges::copy(coordinates, point_coordinates_.begin() + static_cast<std::ptrdiff_t>(first * kernel_->axes()));
  for (; points_ < first + count; ++points_) factor_point(points_);
  for (std::size_t block = 0; block * kBlock < candidates_; ++block) extend_block(block, first);
}

// Computes one more row of the Cholesky factor.
void GaussianProcess::factor_point(std::size_t row) {
  for (std::size_t i = 0; i < row; ++i) row_[i] = kernel_->similarity(point(row), point(i));
  double pivot = 1 + kernel_->noise();
  for (std::size_t j = 0; j < row; ++j) {
    double* const column = factor_column(j);
    const double value = row_[j] / column[j];
    pivot -= value * value;
    column[row] = value;
    for (std::size_t i = j + 1; i < row; ++i) row_[i] -= column[i] * value;
  }
  factor_column(row)[row] = std::sqrt(std::max(pivot, kLeastVariance));
}

// Computes the rows of the points from `first_row` on.
void GaussianProcess::extend_block(std::size_t block, std::size_t first_row) {
  const std::size_t begin = block * kBlock, end = std::min(begin + kBlock, candidates_);
  for (std::size_t row = first_row; row < points_; ++row) {
    std::array<double, kBlock> values{};
    for (std::size_t c = begin; c < end; ++c)
      values[c - begin] = kernel_->similarity(&candidate_coordinates_[c * kernel_->axes()], point(row));
    for (std::size_t j = 0; j < row; ++j) {
      const double factor = factor_column(j)[row];
      const double* const earlier = cross(block, j);
      for (std::size_t lane = 0; lane < kBlock; ++lane) values[lane] -= factor * earlier[lane];
    }
    const double pivot = factor_column(row)[row];
    for (double& value : values) value /= pivot;
    std::ranges::copy(values, cross(block, row));
    for (std::size_t c = begin; c < end; ++c)
      variances_[c] = std::max(variances_[c] - values[c - begin] * values[c - begin], kLeastVariance);
  }
}

void GaussianProcess::set_targets(Output& output, std::span<const double> targets) {
  assert(targets.size() == points_);
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  if (output.targets_.size() > targets.size() ||
      !std::ranges::equal(output.targets_, targets.first(output.targets_.size()), same))
    output = {};
  if (output.targets_.empty()) output.means_.assign(candidates_, 0.0);
  for (std::size_t i = output.targets_.size(); i < targets.size(); ++i) append_target(output, targets[i]);
  double misfit = 0, known = 0;
  for (std::size_t i = 0; i < points_; ++i) {
    misfit += output.solved_[i] * output.solved_[i];
    known += !std::isnan(targets[i]);
  }
  output.scale_ = known > 0 ? std::max(misfit / known, kLeastVariance) : 1;
}

void GaussianProcess::append_target(Output& output, double target) {
  const std::size_t n = output.targets_.size();
  output.targets_.push_back(target);
  double rest = target;
  for (std::size_t j = 0; j < n; ++j) rest -= factor_column(j)[n] * output.solved_[j];
  const double solved = std::isnan(target) ? 0 : rest / factor_column(n)[n];
  output.solved_.push_back(solved);
  if (solved == 0) return;
  for (std::size_t c = 0; c < candidates_; ++c) output.means_[c] += solved * cross(c / kBlock, n)[c % kBlock];
}

void GaussianProcess::set_candidate(std::size_t slot, std::span<const Coordinate> coordinates,
                                    std::span<Output> outputs) {
  std::ranges::copy(coordinates, candidate_coordinates_.begin() + static_cast<std::ptrdiff_t>(slot * kernel_->axes()));
  for (std::size_t i = 0; i < points_; ++i) row_[i] = kernel_->similarity(coordinates.data(), point(i));
  double variance = 1 + kernel_->noise();
  for (std::size_t j = 0; j < points_; ++j) {
    const double* const column = factor_column(j);
    const double value = row_[j] / column[j];
    cross(slot / kBlock, j)[slot % kBlock] = value;
    variance -= value * value;
    for (std::size_t i = j + 1; i < points_; ++i) row_[i] -= column[i] * value;
  }
  variances_[slot] = std::max(variance, kLeastVariance);
  for (Output& output : outputs) {
    if (output.means_.empty()) continue;
    output.means_[slot] = 0;
    for (std::size_t j = 0; j < output.solved_.size(); ++j)
      output.means_[slot] += output.solved_[j] * cross(slot / kBlock, j)[slot % kBlock];
  }
}

}  // namespace tune::search
