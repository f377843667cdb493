#pragma once
#include <cstddef>
#include <span>

namespace tune::worker {

/// Writes a range back to memory and removes it from all caches, on all cores: clflushopt or clflush on x86. Other
/// processors have no such instruction for users; there the caches are swept by reading twice what they can hold.
void flush_caches(std::span<const std::byte> range);

/// Reads a range, so that it is in the caches that all cores share, as far as it fits.
void warm_caches(std::span<const std::byte> range);

}  // namespace tune::worker
