#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checking/guarded_buffer.h"

namespace tune::worker {

/// A buffer without its memory.
struct Extent {
  std::string name;
  std::size_t bytes;
};

/// What is known of a segmentation fault, as plain numbers: a kernel's process leaves them for its judge, which relies
/// on none of them.
struct FaultNote {
  enum class Place : std::uint32_t { unknown, buffer, stack };
  enum class Access : std::uint32_t { unknown, read, write };
  Place place = Place::unknown;
  Access access = Access::unknown;
  std::uint32_t buffer = 0;  ///< by its place among all
  std::int64_t offset = 0;   ///< bytes from the start of the buffer
};

/// `segmentation fault: the kernel read past the end of B, at byte +0`; empty: no more is known than the signal.
std::string to_text(const FaultNote& note, const std::vector<Extent>& buffers);

/// From now on `note` says where this process faults; the fault then ends it as before. `buffers` holds every buffer
/// once for each set of addresses, in the same order. Both must stay. One at a time.
void report_faults(volatile FaultNote& note, const std::vector<const std::vector<GuardedBuffer>*>& buffers);

}  // namespace tune::worker
