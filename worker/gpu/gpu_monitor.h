#pragma once
#include <memory>

#include "gpu/gpu_device.h"
#include "sensors/monitor.h"

namespace tune::worker {

/// The gauges of a device; null if no management library is there that knows it.
std::unique_ptr<Monitor> open_monitor(const GpuHandle& device);

}  // namespace tune::worker
