#include "search/methods/portable_math.h"

#include <cmath>

namespace tune::search {
namespace {

constexpr double kLn2 = 0.6931471805599453;
constexpr double kSqrtHalf = 0.7071067811865476;

// Complementary error function for x >= 0, Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7.
double erfc_of(double x) {
  const double t = 1 / (1 + 0.3275911 * x);
  const double p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return p * exponential(-x * x);
}

}  // namespace

double natural_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);  // log(m) = 2 atanh(s), |s| < 0.172
  const double s2 = s * s;
  double sum = 0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return 2 * s * sum + exponent * kLn2;
}

double exponential(double x) {
  if (x < -700) return 0;
  const double halvings = std::floor(x / kLn2 + 0.5);
  const double r = x - halvings * kLn2;  // |r| < 0.347
  double sum = 1;
  for (int k = 13; k >= 1; --k) sum = 1 + sum * r / k;
  return std::ldexp(sum, static_cast<int>(halvings));
}

double expected_gain(double u) {
  if (u < -6) return 1e-10 / (u * u);  // nothing, but less the further away
  const double density = 0.3989422804014327 * exponential(-u * u / 2);
  if (u < -3) return density / (u * u + 3);  // the difference below would cancel
  const double tail = 0.5 * erfc_of(std::fabs(u) * kSqrtHalf);
  return u * (u < 0 ? tail : 1 - tail) + density;
}

}  // namespace tune::search
