#include "gpu/gpu_limits.h"

#include "model/peak.h"

namespace tune::worker {
namespace {

constexpr double kPeakMargin = 1.25;  // clocks go beyond what consumer cards tell
constexpr double kBandwidthMargin = 1.1;

}  // namespace

GpuLimits GpuLimits::of(const Gpu& gpu, const Gemm& gemm) {
  GpuLimits limits;
  limits.flops = kPeakMargin *
                 peak_flops(gpu.arch(), gpu.attribute(gpu::kMultiprocessors), 1e3 * gpu.attribute(gpu::kClock), gemm);
  // What HIP tells of clock and width does not give the bandwidth of every kind of memory.
  if (gpu::kBackend == Backend::cuda) limits.bandwidth = kBandwidthMargin * gpu.memory_bandwidth();
  limits.cache_bytes = gpu.attribute(gpu::kL2Bytes);
  return limits;
}

}  // namespace tune::worker
