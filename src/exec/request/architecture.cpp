#include "exec/request/architecture.h"

#include <algorithm>
#include <charconv>

namespace tune::exec {
namespace {

/// Limits of NVIDIA's compute capabilities, of which this toolkit and later ones build code.
struct Capability {
  std::int64_t number, threads, blocks;  ///< of a multiprocessor
  std::int64_t shared_kib, block_kib;    ///< of a multiprocessor, and of one block that asks for more than 48
};
constexpr Capability kCapabilities[] = {
    {75, 1024, 16, 64, 64},    {80, 2048, 32, 164, 163}, {86, 1536, 16, 100, 99},   {87, 1536, 16, 164, 163},
    {89, 1536, 24, 100, 99},   {90, 2048, 32, 228, 227}, {100, 2048, 32, 228, 227}, {103, 2048, 32, 228, 227},
    {110, 1536, 24, 228, 227}, {120, 1536, 24, 100, 99}, {121, 1536, 24, 100, 99},
};

/// The LDS that a block may have. ROCm's "AMD GPU specifications" tell the size of a compute unit's.
struct Lds {
  std::string_view arch;
  std::int64_t kib;
};
constexpr Lds kLds[] = {{"gfx906", 64}, {"gfx908", 64}, {"gfx90a", 64}, {"gfx942", 64}, {"gfx950", 160}};

Device named(std::string_view arch) {
  Device device;
  device.name = device.arch = arch;
  device.properties["max_threads_per_block"] = std::int64_t{1024};
  return device;
}

Device device_of(std::string_view arch, const Capability& capability) {
  Device device = named(arch);
  auto& properties = device.properties;
  properties["compute_capability"] = capability.number;
  properties["warp_size"] = std::int64_t{32};
  properties["max_registers_per_block"] = std::int64_t{65536};
  properties["max_threads_per_multiprocessor"] = capability.threads;
  properties["max_blocks_per_multiprocessor"] = capability.blocks;
  properties["max_shared_per_multiprocessor"] = capability.shared_kib * 1024;
  properties["max_shared_per_block"] = capability.block_kib * 1024;
  return device;
}

/// The backend whose architectures have such names; nullptr: it tells none.
const BackendTraits* named_backend(std::string_view arch) {
  for (const BackendTraits& traits : backends())
    if (!traits.arch.empty() && arch.starts_with(traits.arch)) return &traits;
  return nullptr;
}

}  // namespace

std::optional<Device> device_of(std::string_view arch) {
  if (const auto* lds = std::ranges::find(kLds, arch, &Lds::arch); lds != std::end(kLds)) {
    Device device = named(arch);
    device.properties["warp_size"] = std::int64_t{64};
    device.properties["max_shared_per_block"] = lds->kib * 1024;
    return device;
  }
  if (!arch.starts_with("sm_")) return std::nullopt;
  std::int64_t number = 0;  // what follows it (sm_90a) adds instructions
  std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  const auto* const capability = std::ranges::find(kCapabilities, number, &Capability::number);
  return capability == std::end(kCapabilities) ? std::nullopt : std::optional(device_of(arch, *capability));
}

bool is_built_by(std::string_view arch, Backend backend) {
  const auto* const named = named_backend(arch);
  return is_program(backend) || named == nullptr || named->backend == backend;
}

bool is_device_of(std::string_view arch, Backend backend) {
  return is_built_by(arch, backend) && (named_backend(arch) != nullptr || !is_gpu(backend));
}

}  // namespace tune::exec
