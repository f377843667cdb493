#include "model/cost/power_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace tune {
namespace {

constexpr int kRidges = 120, kRises = 80;  // candidates
constexpr double kMostVolts = 2;           // at the highest clock, in shares of the voltage below the ridge

/// Terms a and b, none below 0, for which a + b x is nearest to y in shares of y.
struct Line {
  double a = 0, b = 0, squares = 0;
};

Line nearest_line(std::span<const double> xs, std::span<const double> ys) {
  // Everything is divided by y, so that a/y + b x/y is to be 1.
  double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double u = 1 / ys[i], v = xs[i] / ys[i];
    aa += u * u;
    ab += u * v;
    bb += v * v;
    a1 += u;
    b1 += v;
  }
  const double determinant = aa * bb - ab * ab;
  Line line;
  if (determinant > 0) {
    line.a = (a1 * bb - b1 * ab) / determinant;
    line.b = (b1 * aa - a1 * ab) / determinant;
  }
  if (determinant <= 0 || line.a < 0) line = {0, b1 / bb, 0};
  if (line.b < 0) line = {a1 / aa, 0, 0};
  for (std::size_t i = 0; i < xs.size(); ++i) line.squares += std::pow((line.a + line.b * xs[i]) / ys[i] - 1, 2);
  return line;
}

bool is_sound(const ClockSample& sample) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  return positive(sample.mhz) && positive(sample.seconds) && positive(sample.watts);
}

}  // namespace

double PowerModel::volts(double mhz) const { return 1 + rise_ * std::max(0.0, mhz - ridge_mhz_); }

double PowerModel::watts(double mhz) const { return static_watts_ + watts_per_mhz_ * mhz * volts(mhz) * volts(mhz); }

std::optional<PowerModel> PowerModel::fit(std::span<const ClockSample> samples) {
  std::vector<double> clocks, periods, seconds, watts;
  std::set<double> different;
  for (const ClockSample& sample : samples) {
    if (!is_sound(sample)) continue;
    different.insert(sample.mhz);
    clocks.push_back(sample.mhz);
    periods.push_back(1 / sample.mhz);
    seconds.push_back(sample.seconds);
    watts.push_back(sample.watts);
  }
  if (different.size() < kFewest) return std::nullopt;
  const Line time = nearest_line(periods, seconds);
  const double lowest = *different.begin(), highest = *different.rbegin();
  PowerModel best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRidges; ++i) {
    PowerModel model;
    model.fixed_seconds_ = time.a;
    model.cycles_ = time.b;
    model.ridge_mhz_ = lowest + (highest - lowest) * i / kRidges;
    for (int j = 0; j <= kRises; ++j) {
      model.rise_ = (kMostVolts - 1) * j / kRises / (highest - model.ridge_mhz_);
      std::vector<double> driven;
      for (const double mhz : clocks) driven.push_back(mhz * std::pow(model.volts(mhz), 2));
      const Line power = nearest_line(driven, watts);
      if (power.squares >= least) continue;
      least = power.squares;
      model.static_watts_ = power.a;
      model.watts_per_mhz_ = power.b;
      best = model;
    }
  }
  for (std::size_t i = 0; i < clocks.size(); ++i)
    best.error_ = std::max(best.error_, std::abs(best.watts(clocks[i]) / watts[i] - 1));
  return best;
}

}  // namespace tune
