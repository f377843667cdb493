#pragma once
#include <cstdint>

#include "model/values/random.h"

namespace tune::search {

/// Replacements for functions of the mathematical library whose last bit differs between machines. They use correctly
/// rounded operations only, so that a search takes the same path everywhere. The error is about 1e-14 unless stated.
double natural_log(double x);  ///< x > 0
double exponential(double x);
/// The expected improvement of a standard normal variable over -u: u*Phi(u) + phi(u). The relative error is a few per
/// cent where the value is tiny.
double expected_gain(double u);

/// Uniform in [0, 1), 53 bits.
inline double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

inline bool chance(Random& random, double probability) { return uniform(random) < probability; }

}  // namespace tune::search
