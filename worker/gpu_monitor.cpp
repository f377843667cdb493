#include "gpu_monitor.h"

#include "nvml.h"

namespace tune::worker {

// An AMD device is one that NVML does not know.
std::unique_ptr<Monitor> open_monitor(const GpuHandle& device) {
  return Nvml::find(NvmlFunctions::open(), device.uuid());
}

}  // namespace tune::worker
