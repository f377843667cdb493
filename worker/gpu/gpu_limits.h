#pragma once
#include "gpu/gpu_device.h"
#include "model/problem.h"

namespace tune::worker {

/// What a GPU cannot exceed, with a margin above what its driver tells; 0: not known.
struct GpuLimits {
  double flops = 0, bandwidth = 0;  ///< flops and bytes per second
  double cache_bytes = 0;

  /// The limits for a problem of these types. Asks the driver, which takes a millisecond (H200). Throws GpuError.
  static GpuLimits of(const Gpu& gpu, const Gemm& gemm);
};

}  // namespace tune::worker
