#pragma once
#include <set>
#include <string>

#include "model/device.h"
#include "sensors/cpu_monitor.h"

namespace tune::worker {

/// This machine as a device: `cores`, cache and memory sizes in bytes, `simd_bits`, `name`. `arch` tells CPUs apart
/// that -march=native builds different code for. `monitor` tells whether there is an energy counter, and the power now.
Device probe_cpu(const CpuMonitor& monitor);
/// What the operating system lets programs use of an x86 CPU, by its names: avx2, fma. Empty elsewhere.
std::set<std::string> cpu_features();

}  // namespace tune::worker
