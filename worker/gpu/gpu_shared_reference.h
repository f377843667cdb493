#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "gpu/gpu_helpers.h"

namespace tune::worker {

/// A reference that the process that made it keeps on the device, so that other processes copy it from there (1 ms for
/// 2 GB on an H200) instead of reading it from its file. A file next to the reference's tells where it is. Kernels that
/// are measured never see that memory, because a process closes it again after the copy.
struct SharedReference {
  DeviceMemory memory;  ///< a copy of our own
  std::uint64_t digest = 0;

  /// Offers what `memory` holds; it must live as long as it is to be found. False: the device shares no memory between
  /// processes.
  static bool offer(const std::filesystem::path& reference, const Gpu& gpu, const DeviceMemory& memory,
                    const GpuHelpers& helpers);
  static bool is_offered(const std::filesystem::path& reference);
  /// Copies the memory that the file next to this reference offers on this device; nullopt if there is none that can be
  /// opened. Throws GpuError.
  static std::optional<SharedReference> copy(const std::filesystem::path& reference, const Gpu& gpu);
};

}  // namespace tune::worker
