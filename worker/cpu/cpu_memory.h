#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checking/guarded_buffer.h"
#include "checking/verifier.h"

namespace tune::worker {

/// What a launch finds in memory. Every launch has another one, so that what was right in one is wrong in the next.
struct LaunchSetting {
  Poison pattern = Poison::nan;  ///< what outputs and workspace hold
  bool stale = false;            ///< outputs hold what the launch before left, which the rotation makes wrong
  Rotation rotation;
  std::uint32_t addresses = 0;
};

/// The buffers of one problem and the workspace as the judge of a kernel sees them, and what has to happen to them
/// around a launch.
class CpuMemory {
 public:
  /// Poisons everything and fills the inputs. `verifier` says what belongs into the buffers, and outlives this.
  CpuMemory(std::vector<GuardedBuffer> buffers, const Verifier& verifier);

  /// Gives the pages of all buffers back to the system; `refill` makes what they held on other pages.
  void release();
  void refill();

  const void* data(std::size_t buffer) const { return buffers_[buffer].data(); }

  void prepare(const LaunchSetting& setting);
  /// Has the inputs hold Verifier::other_content(). refill() ends that.
  void fill_otherwise();
  /// Takes all buffers out of the caches.
  void flush() const;
  /// Reads all buffers. A kernel's process could compute the result while it was asked to do this.
  void warm() const;

  /// Throws SpecFailure if a guard band was hit or a buffer is not right. Returns the largest error over its tolerance.
  double verify(const LaunchSetting& setting) const;

 private:
  bool is_poisoned(std::size_t buffer) const;
  void poison_everything();
  void fill_buffer(std::size_t buffer, const Rotation& rotation);
  bool is_intact_input(std::size_t buffer, const Rotation& rotation) const;

  const Verifier& verifier_;
  std::vector<GuardedBuffer> buffers_;             ///< by number; then the workspace, if there is one
  std::vector<std::vector<std::byte>> originals_;  ///< of inputs as they were filled; to make them takes longer
  Rotation rotation_;                              ///< that the inputs have
};

}  // namespace tune::worker
