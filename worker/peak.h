#pragma once
#include <string>

#include "model/problem.h"

namespace tune::worker {

/// The most operations per second that a GPU of this architecture (`sm_90a`, `gfx90a`) can do for a GEMM of these
/// types, whatever units and tricks it uses: a bound that nothing honest exceeds, by the vendors' documents. 0: not
/// known.
double peak_flops(const std::string& arch, int multiprocessors, double clock_hz, const Gemm& gemm);

}  // namespace tune::worker
