#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tune::worker {

/// The device nodes of all NVIDIA GPUs but the one with this UUID (`GPU-...`). Empty if there are no others or
/// the kernel module does not tell. `driver` is the module's folder of GPUs, `devices` is the folder of the nodes.
std::vector<std::filesystem::path> nodes_of_other_gpus(const std::string& uuid,
                                                       const std::filesystem::path& driver = "/proc/driver/nvidia/gpus",
                                                       const std::filesystem::path& devices = "/dev");

/// All that leads to NVIDIA's driver: its nodes and folders of nodes, or in Windows' subsystem for Linux `dxg`.
std::vector<std::filesystem::path> nvidia_nodes(const std::filesystem::path& devices = "/dev");

/// From now on neither this thread nor what it starts can open these files, nor those in these folders (Landlock: Linux
/// 5.13). No path holds a link. False: the system cannot do that, and they still can.
bool renounce(const std::vector<std::filesystem::path>& paths);

/// The same for writing to what is in /proc and /sys, by which processes and control groups are changed.
bool renounce_the_system();

}  // namespace tune::worker
