#include "gpu_probe.h"

#include <fmt/format.h>

#include <array>

#include "backend.h"
#include "gpu_compiler.h"
#include "gpu_device.h"

namespace tune {
namespace {

constexpr std::pair<const char*, gpu::Attribute> kProperties[] = {
    {"cooperative_launch", CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {"l2_bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {"max_blocks_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {"max_registers_per_block", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {"max_shared_per_block", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {"max_shared_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {"max_threads_per_block", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {"max_threads_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {"multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {"warp_size", CU_DEVICE_ATTRIBUTE_WARP_SIZE},
};

std::string cuda_version(const GpuDriver& driver) {
  int version = 0;
  driver.version(&version);
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

Device describe(const GpuHandle& gpu) {
  Device device;
  std::array<char, 256> name{};
  gpu.driver.device_name(name.data(), static_cast<int>(name.size()), gpu.device);
  device.name = name.data();
  device.driver = display_driver_version().value_or(cuda_version(gpu.driver));
  device.arch = gpu.arch();
  std::size_t memory = 0;
  gpu.driver.device_memory(&memory, gpu.device);
  const auto integer = [&](gpu::Attribute attribute) { return std::int64_t{gpu.attribute(attribute)}; };
  for (const auto& [property, attribute] : kProperties) device.properties[property] = integer(attribute);
  device.properties["memory_bytes"] = static_cast<std::int64_t>(memory);
  device.properties["compute_capability"] = 10 * integer(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                                            integer(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  device.properties["clock_hz"] = 1000 * integer(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  // The clock is in kHz, the bus' width in bits, and memory moves data twice a tick.
  device.properties["memory_bandwidth"] = 2 * 1000 * integer(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                                          integer(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
  device.properties["name"] = device.name;
  return device;
}

}  // namespace

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
    hello.device = describe(GpuHandle::open());
  } catch (const std::runtime_error& error) {
    hello.no_device = error.what();
    if (!no_compiler.empty())
      throw Refusal(Stage::start, fmt::format("{}\nand no run-time compiler: {}", error.what(), no_compiler));
  }
  return hello;
}

}  // namespace tune
