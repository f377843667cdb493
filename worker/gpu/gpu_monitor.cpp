#include "gpu/gpu_monitor.h"

#include "sensors/amd_smi.h"
#include "sensors/nvml.h"
#include "sensors/rocm_smi.h"

namespace tune::worker {

std::unique_ptr<Monitor> open_monitor(const GpuHandle& device) {
  if (gpu::kBackend == Backend::hip) {
    const std::string id = uuid_text("GPU", device.uuid());
    if (auto monitor = AmdSmi::find(id)) return monitor;
    if (auto monitor = RocmSmi::find(id)) return monitor;
  }
  // Under a HIP that runs on CUDA, the device is NVIDIA's.
  return Nvml::find(NvmlFunctions::open(), device.uuid());
}

}  // namespace tune::worker
