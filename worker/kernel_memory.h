#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

namespace tune::worker {

/// Keeps this process, and each that it starts, from taking more memory than so many bytes beside what it has; what it
/// asks for beyond is refused, so that it fails instead of the machine. Memory that is reserved counts, stacks of
/// threads too; memory shared with other processes does not. 0: four fifths of what is left to us. Returns the limit;
/// 0: none could be set.
std::int64_t limit_memory(std::int64_t bytes);

/// What a container may still take, by the files of its cgroup: caches that the system gives up for it count as free.
/// nullopt: it has no limit.
std::optional<std::int64_t> left_in_container(const std::filesystem::path& cgroup);

}  // namespace tune::worker
