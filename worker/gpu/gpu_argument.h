#pragma once
#include <array>
#include <cstddef>
#include <functional>

#include "gpu/gpu_device.h"
#include "wire/messages.h"

namespace tune::worker {

/// The value of one parameter of a kernel: an address, a number or a tensor map, which has the strictest alignment.
struct alignas(64) GpuArgument {
  std::array<std::byte, 128> bytes{};
  std::size_t size = 0;
};

using AddressOf = std::function<gpu::Address(const std::string& buffer)>;

/// Throws SpecFailure of the load stage for what cannot be passed.
GpuArgument make_argument(const Gpu& gpu, const wire::Arg& arg, const Problem& problem, const AddressOf& address);

}  // namespace tune::worker
