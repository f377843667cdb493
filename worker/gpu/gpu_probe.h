#pragma once
#include "gpu/gpu_device.h"
#include "sensors/monitor.h"
#include "wire/messages.h"

namespace tune::worker {

/// The gauges of a device; null if no management library is there that knows it.
std::unique_ptr<Monitor> open_monitor(const GpuHandle& device);

/// The first device and the run-time compiler, without opening a context. Without a device there is still something to
/// build with, and Hello::no_device says why; with neither it throws SpecFailure of the start stage.
wire::Hello probe_gpu(Backend backend);

/// What a GPU cannot exceed, with a margin above what its driver tells; 0: not known.
struct GpuLimits {
  double flops = 0, bandwidth = 0;  ///< flops and bytes per second
  double cache_bytes = 0;

  /// The limits for a problem of these types. Asks the driver, which takes a millisecond (H200). Throws GpuError.
  static GpuLimits of(const Gpu& gpu, const Gemm& gemm);
};

}  // namespace tune::worker
