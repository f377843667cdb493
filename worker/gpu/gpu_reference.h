#pragma once
#include <cstdint>
#include <vector>

#include "gpu/gpu_helpers.h"

namespace tune::worker {

/// What compute_reference of reference.h returns, made on the device by our own kernel in double precision.
std::vector<double> compute_reference_on(const Gpu& gpu, const GpuHelpers& helpers, const Gemm& gemm,
                                         std::uint64_t seed);

}  // namespace tune::worker
