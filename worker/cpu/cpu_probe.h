#pragma once
#include <set>
#include <string>

#include "model/device.h"
#include "model/problem.h"
#include "sensors/cpu_monitor.h"

namespace tune::worker {

/// This machine as a device: `cores`, cache and memory sizes in bytes, `simd_bits`, `name`. `arch` tells CPUs apart
/// that -march=native builds different code for. `monitor` tells whether there is an energy counter, and the power now.
Device probe_cpu(const CpuMonitor& monitor);
/// What the operating system lets programs use of an x86 CPU, by its names: avx2, fma. Empty elsewhere.
std::set<std::string> cpu_features();

/// Upper bounds of what this machine can do, for worker/measuring/roofline.h. They are meant to be above what any
/// existing CPU can do, not near what this one can.

/// Operations a second on all cores, for the types of a problem.
double cpu_most_flops(const Problem& problem);

/// Bytes a second between all cores and the memory.
double cpu_most_bandwidth();

}  // namespace tune::worker
