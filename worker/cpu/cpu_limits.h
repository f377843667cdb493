#pragma once
#include "model/problem.h"

namespace tune::worker {

/// Upper bounds of what this machine can do, for worker/measuring/roofline.h. They are meant to be above what any
/// existing CPU can do, not near what this one can.

/// Operations a second on all cores, for the types of a problem.
double cpu_most_flops(const Problem& problem);

/// Bytes a second between all cores and the memory.
double cpu_most_bandwidth();

}  // namespace tune::worker
