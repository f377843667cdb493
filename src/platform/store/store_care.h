#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "platform/store/store.h"

namespace tune::platform {

// What the own store holds, and how entries leave it. Entries of other users in a shared store stay.

struct StoreEntry {
  std::filesystem::path path;
  std::int64_t bytes = 0;
  std::filesystem::file_time_type used;  ///< for the last time
  bool own = true;                       ///< of this user
};

/// The finished entries of a store's folder, least recently used first.
std::vector<StoreEntry> entries_of(const std::filesystem::path& folder);

/// Removes an entry, which is never seen in part. False if it cannot be removed.
bool remove_entry(const StoreEntry& entry);

/// What was used during this time stays: a run may be about to load it.
inline constexpr std::chrono::hours kRecentlyUsed{1};
/// Removes entries, least recently used first, until all together have at most `limit` bytes. Never throws: what
/// cannot be removed stays.
void trim(const std::filesystem::path& folder, std::int64_t limit);

}  // namespace tune::platform
