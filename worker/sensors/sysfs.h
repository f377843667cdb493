#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What Linux tells of the machine in files of one word each, below /sys, or below the folder that TUNE_SYSFS names:
/// a container may have the machine's elsewhere.
namespace tune::worker {

/// `below` is the path after `/sys/`.
std::filesystem::path sysfs(const std::string& below);
/// The first line; empty if the file cannot be read.
std::string sysfs_line(const std::filesystem::path& file);
/// nullopt: the file cannot be read, or holds no number.
std::optional<std::int64_t> sysfs_number(const std::filesystem::path& file);
/// The entries of a folder whose names are `prefix` and a number, in order; empty if there is no such folder.
std::vector<std::filesystem::path> sysfs_numbered(const std::filesystem::path& folder, const std::string& prefix);

/// The energy domains of the CPU's packages (RAPL) in Linux's powercap interface: all of a machine's processors, but
/// not its memory. Other domains are parts of these, or have them as parts.
std::vector<std::filesystem::path> rapl_packages();

}  // namespace tune::worker
