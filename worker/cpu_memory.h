#pragma once
#include <string>
#include <vector>

#include "guarded_buffer.h"
#include "verifier.h"
#include "wire/messages.h"

namespace tune {

/// The buffers of one problem and the workspace in host memory, and what has to happen to them around a launch.
class CpuMemory {
 public:
  /// Maps and poisons everything and fills the inputs. `verifier` says what belongs into the buffers, and outlives
  /// this.
  CpuMemory(const wire::MeasureRequest& request, const Verifier& verifier);

  /// The address a kernel gets for a buffer or `workspace`. Throws Refusal for an unknown name.
  void* address(const std::string& name) const;
  const void* data(std::size_t buffer) const { return buffers_[buffer].data(); }

  /// Makes everything that a kernel writes as if it had never run: outputs and workspace poisoned, the rest refilled.
  void reset(Poison pattern);
  /// Gives buffers that are read and written their content again; nothing for most problems.
  void restore();
  /// What belongs to the timed launch: zeroes the workspace, and C for kernels that add to it.
  void zero();
  /// Takes all buffers out of the caches.
  void flush() const;

  /// Throws Refusal if a guard band was hit or a buffer is not right. Returns the largest error over its tolerance.
  double verify(Poison pattern) const;
  void verify_guards() const;

 private:
  const Verifier& verifier_;
  bool zero_workspace_, zero_c_;
  std::vector<GuardedBuffer> buffers_;  ///< by number; then the workspace, if there is one
};

}  // namespace tune
