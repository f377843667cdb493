#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

namespace tune::worker {

/// Keeps this process, and each that it starts, from taking more than this many bytes of memory in addition to what it
/// has. Requests beyond the limit are refused, so that the process fails and not the machine. Reserved memory
/// counts, and so do the stacks of threads; memory shared with other processes does not. 0 means four fifths of the
/// memory that is left to us. Returns the limit, or 0 if none could be set.
std::int64_t limit_memory(std::int64_t bytes);

/// What a container may still take, by the files of its cgroup: caches that the system gives up for it count as free.
/// nullopt: it has no limit.
std::optional<std::int64_t> left_in_container(const std::filesystem::path& cgroup);

}  // namespace tune::worker
