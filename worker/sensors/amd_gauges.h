#pragma once
#include <memory>
#include <string>

#include "sensors/monitor.h"
#include "sensors/rocm_library.h"

namespace tune::worker {

/// The gauges of one AMD device, from AMD's management library. Its power limit is the cap of its package, and it does
/// not say why its clock is not higher. `device_id` is what a worker's probe tells. Null if the library is absent or
/// does not know the device.
std::unique_ptr<Monitor> find_rocm_smi(const std::string& device_id);

/// The gauges of one AMD device, from AMD SMI (libamd_smi.so.26, of ROCm 7), the successor of ROCm SMI. Its functions
/// are called by their public documentation, because its header is not on every machine; the library stays open.
/// Null as above.
std::unique_ptr<Monitor> find_amd_smi(const std::string& device_id);

}  // namespace tune::worker
