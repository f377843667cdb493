#include "gpu/gpu_probe.h"

#include <fmt/format.h>

#include <array>

#include "backend.h"
#include "gpu/gpu_blas_library.h"
#include "gpu/gpu_compiler.h"
#include "gpu/gpu_device.h"
#include "model/peak.h"
#include "sensors/amd_gauges.h"
#include "sensors/nvml.h"
#include "sensors/uuid.h"

namespace tune::worker {
namespace {

constexpr std::pair<const char*, gpu::Attribute> kProperties[] = {
    {"cooperative_launch", gpu::kCooperativeLaunch},    {"l2_bytes", gpu::kL2Bytes},
    {"max_blocks_per_multiprocessor", gpu::kMaxBlocks}, {"max_registers_per_block", gpu::kMaxRegisters},
    {"max_shared_per_block", gpu::kMaxShared},          {"max_shared_per_multiprocessor", gpu::kMultiprocessorShared},
    {"max_threads_per_block", gpu::kMaxThreads},        {"max_threads_per_multiprocessor", gpu::kMultiprocessorThreads},
    {"multiprocessors", gpu::kMultiprocessors},         {"warp_size", gpu::kWarpSize},
};

constexpr const char* kNoMonitor =
    "NVIDIA's management library (libnvidia-ml.so.1) is missing or does not know the device, so there are no clocks, "
    "power and temperature, and what was timed too hot is not timed again; install the driver's version of it (a "
    "container gets it with NVIDIA_DRIVER_CAPABILITIES=compute,utility)";

std::string name_of(const GpuHandle& gpu) {
  std::array<char, 256> name{};
  gpu.driver.device_name(name.data(), static_cast<int>(name.size()), gpu.device);
  return name.data();
}

/// All there is to choose from.
std::vector<wire::DeviceName> list_devices(const GpuDriver& driver) {
  int count = 0;
  driver.device_count(&count);
  std::vector<wire::DeviceName> devices;
  for (int i = 0; i < count; ++i) {
    GpuHandle gpu{driver, {}};
    if (driver.device(&gpu.device, i) != gpu::kSuccess) continue;
    const bool one_process = gpu.attribute(gpu::kComputeMode) == gpu::kExclusiveProcess;
    devices.push_back({name_of(gpu), uuid_text("GPU", gpu.uuid()), one_process});
  }
  return devices;
}

Device describe(const GpuHandle& gpu, const Monitor* monitor) {
  Device device;
  device.name = name_of(gpu);
  device.driver = gpu::driver_version(gpu.driver);
  device.arch = gpu.arch();
  std::size_t memory = 0;
  gpu.driver.device_memory(&memory, gpu.device);
  const auto integer = [&](gpu::Attribute attribute) { return std::int64_t{gpu.attribute(attribute)}; };
  for (const auto& [property, attribute] : kProperties) device.properties[property] = integer(attribute);
  device.properties["memory_bytes"] = static_cast<std::int64_t>(memory);
  device.properties["compute_capability"] = 10 * integer(gpu::kComputeMajor) + integer(gpu::kComputeMinor);
  device.properties["clock_hz"] = 1000 * integer(gpu::kClock);
  // The clock is in kHz, the bus' width in bits, and memory moves data twice a tick.
  device.properties["memory_bandwidth"] = 2 * 1000 * integer(gpu::kMemoryClock) * integer(gpu::kMemoryBusWidth) / 8;
  device.properties["name"] = device.name;
  device.properties["energy_counter"] = std::int64_t{monitor && monitor->joules()};
  if (const auto power = monitor ? monitor->conditions().power_w : std::nullopt)
    device.properties["idle_power_w"] = *power;
  return device;
}

constexpr double kPeakMargin = 1.25;  // clocks go beyond what consumer cards tell
constexpr double kBandwidthMargin = 1.1;

}  // namespace

std::unique_ptr<Monitor> open_monitor(const GpuHandle& device) {
  if (gpu::kBackend == Backend::hip) {
    const std::string id = uuid_text("GPU", device.uuid());
    if (auto monitor = find_amd_smi(id)) return monitor;
    if (auto monitor = find_rocm_smi(id)) return monitor;
  }
  // Under a HIP that runs on CUDA, the device is NVIDIA's.
  return find_nvml(NvmlFunctions::open(), device.uuid());
}

wire::Hello probe_gpu(Backend backend) {
  wire::Hello hello;
  hello.backend = backend;
  std::string no_compiler;
  try {
    const GpuCompiler compiler;
    hello.compiler = compiler.version();
    hello.archs = compiler.architectures();
  } catch (const std::runtime_error& error) {
    no_compiler = error.what();
  }
  try {
    const GpuHandle gpu = GpuHandle::open();
    const auto monitor = open_monitor(gpu);
    hello.device = describe(gpu, monitor.get());
    if (!monitor && backend == Backend::cuda) hello.remarks.emplace_back(kNoMonitor);
    hello.devices = list_devices(gpu.driver);
    hello.vendor_library = blas::Library::likely_file();
  } catch (const std::runtime_error& error) {
    hello.no_device = error.what();
    if (!no_compiler.empty())
      throw SpecFailure(Stage::start, fmt::format("{}\nand no run-time compiler: {}; {}", error.what(), no_compiler,
                                                  gpu::kCompilerAdvice));
  }
  return hello;
}

GpuLimits GpuLimits::of(const Gpu& gpu, const Gemm& gemm) {
  GpuLimits limits;
  limits.flops = kPeakMargin *
                 peak_flops(gpu.arch(), gpu.attribute(gpu::kMultiprocessors), 1e3 * gpu.attribute(gpu::kClock), gemm);
  // What HIP tells of clock and width does not give the bandwidth of every kind of memory.
  if (gpu::kBackend == Backend::cuda) limits.bandwidth = kBandwidthMargin * gpu.memory_bandwidth();
  limits.cache_bytes = gpu.attribute(gpu::kL2Bytes);
  return limits;
}

}  // namespace tune::worker
