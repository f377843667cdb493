#pragma once
#include <string>
#include <vector>

#include "gpu_helpers.h"
#include "verifier.h"
#include "wire/messages.h"

namespace tune {

/// The buffers of one problem and the workspace on a device, each between two guard bands, and what has to happen to
/// them around a launch. The device decides whether they are right; only what is not is copied to the host, which says
/// what is wrong with it.
class GpuMemory {
 public:
  static constexpr std::size_t kBand = 64 << 10;  ///< bytes of a guard band; keeps buffers aligned

  /// Takes all memory and copies the reference; fills nothing. All outlive this. Throws GpuError.
  GpuMemory(const Gpu& gpu, const GpuHelpers& helpers, const wire::MeasureRequest& request, const Verifier& verifier);

  /// The address a kernel gets for a buffer or `workspace`. Throws Refusal for an unknown name.
  gpu::Address address(const std::string& name) const;

  /// Guard bands and inputs, before the first launch.
  void fill();
  /// Makes everything that a kernel writes as if it had never run: outputs and workspace poisoned, the rest refilled.
  void reset(Poison pattern);
  /// Gives buffers that are read and written their content again; nothing for most problems.
  void restore();
  bool needs_restoring() const;
  /// What belongs to the timed launch: zeroes the workspace, and C for kernels that add to it.
  void zero();
  /// Takes all buffers out of the L2 cache by writing more than it holds.
  void flush();

  /// Throws Refusal if a guard band was hit or a buffer is not right. Returns the largest error over its tolerance.
  double verify(Poison pattern) const;
  void verify_guards() const;

 private:
  struct Guarded {
    std::string name;
    std::size_t bytes = 0;
    DeviceMemory memory;
    gpu::Address address() const { return memory.address() + kBand; }
  };
  void add(const Gpu& gpu, const std::string& name, std::int64_t bytes);
  double verify_output(std::size_t buffer, Poison pattern) const;
  double verify_on_host(std::size_t buffer, Poison pattern) const;
  GpuHelpers::Comparison comparison(std::size_t buffer) const;

  const GpuHelpers& helpers_;
  const Verifier& verifier_;
  bool zero_workspace_, zero_c_;
  std::vector<Guarded> buffers_;  ///< by number; then the workspace, if there is one
  DeviceMemory reference_, sweep_;
};

}  // namespace tune
