#pragma once

namespace tune::worker {

/// Gives this thread the arithmetic that a program starts with: rounding to nearest, denormal numbers, no traps.
void reset_arithmetic();

/// Whether it has that.
bool has_default_arithmetic();

}  // namespace tune::worker
