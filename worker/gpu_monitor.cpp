#include "gpu_monitor.h"

#include <cstring>

#include "nvml.h"

namespace tune {

// An AMD device is one that NVML does not know.
std::unique_ptr<Monitor> open_monitor(const GpuHandle& device) {
  const gpu::Uuid uuid = device.uuid();
  unsigned char bytes[16];
  static_assert(sizeof(uuid) == sizeof(bytes));
  std::memcpy(bytes, &uuid, sizeof(bytes));
  return Nvml::find(NvmlFunctions::open(), nvml_uuid(bytes));
}

}  // namespace tune
