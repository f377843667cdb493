#pragma once
#include <filesystem>
#include <string>

namespace tune::worker {

/// What decides how many cores a kernel or program computes on, besides its own parameters: the cores that this process
/// may use, the share of their time that its control group has, and variables such as OMP_NUM_THREADS. Empty where it
/// may use all cores of the machine and no such variable is set: results from before this was noted count as such.
std::string core_settings();

/// How many cores' time the control group `group` below `root` may take, by its own and its ancestors' cpu.max; 0: no
/// limit.
double cores_of_group(const std::filesystem::path& root, const std::filesystem::path& group);

}  // namespace tune::worker
