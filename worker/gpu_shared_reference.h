#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "gpu_device.h"

namespace tune {

/// A reference that the process that made it keeps on the device, so that other processes copy it from there (1 ms for
/// 2 GB on an H200) instead of reading it from its file. A file beside the reference's says where it is. Kernels that
/// are measured never see that memory: what a process has opened it closes after the copy.
class SharedReference {
 public:
  /// Offers what `memory` holds; it must live as long as it is to be found. Does nothing where the device shares no
  /// memory between processes. `largest_addend` is the reference's last value, see GemmReference.
  static void offer(const std::filesystem::path& reference, const Gpu& gpu, const DeviceMemory& memory,
                    std::uint64_t digest, double largest_addend);
  /// What is offered beside this reference on this device; nullopt: nothing that can be opened.
  static std::optional<SharedReference> find(const std::filesystem::path& reference, const Gpu& gpu);

  /// A copy of our own. Throws GpuError.
  DeviceMemory copy(const Gpu& gpu);
  std::uint64_t digest() const { return offer_.digest; }
  double largest_addend() const { return offer_.largest_addend; }

 private:
  struct Offer {
    std::array<char, 8> magic{};
    Uuid device{};
    std::uint64_t bytes = 0, digest = 0;
    double largest_addend = 0;
    gpu::ShareHandle handle{};
  };
  explicit SharedReference(const Offer& offer) : offer_(offer) {}

  Offer offer_;
};

}  // namespace tune
