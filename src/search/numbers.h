#pragma once
#include <cstdint>

#include "model/values/random.h"

namespace tune {

/// Functions of the mathematical library whose last bit differs between machines, made of exactly rounded operations so
/// that a search takes the same path everywhere. Good to about 1e-14 unless said otherwise.
double natural_log(double x);  ///< x > 0
double exponential(double x);
/// What a normal variable of mean 0 and deviation 1 is expected to gain over -u: u*Phi(u) + phi(u); good to some per
/// cent where it is tiny.
double expected_gain(double u);

/// Uniform in [0, 1), 53 bits.
inline double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

inline bool chance(Random& random, double probability) { return uniform(random) < probability; }

}  // namespace tune
