#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/gpu_helpers.h"

namespace tune::worker {

/// The code of gpu_multiply.cu for one architecture. Throws std::runtime_error if it cannot be compiled.
std::string compile_gpu_multiply(const std::string& arch);

/// What compute_reference of reference.h returns, made by our own kernels in double precision where it stays: on the
/// device. Throws SpecFailure if a value is not finite.
DeviceMemory compute_reference_on(const Gpu& gpu, const GpuHelpers& helpers, const std::string& multiply_code,
                                  const Gemm& gemm, std::uint64_t seed);

/// Such values on the host.
std::vector<double> reference_on_host(const DeviceMemory& reference);

}  // namespace tune::worker
