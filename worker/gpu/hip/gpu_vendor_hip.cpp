#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <tuple>

#include "gpu/gpu_vendor.h"
#include "gpu/hip/gpu_command_hip.h"
#include "wire/binaries/code_object.h"

namespace tune::gpu {

const char* const kNoContraction = "-ffp-contract=off";

std::string describe(const worker::GpuDriver& driver, Status status) {
  const std::string name = driver.error_name(status), text = driver.error_text(status);
  return name == text ? name : fmt::format("{} ({})", text, name);
}

std::string device_advice() {
  std::error_code error;
  if (std::filesystem::exists("/dev/kfd", error)) return "";
  return "there is no /dev/kfd: the kernel's driver amdgpu has found no device, or this container is not given it";
}

void renounce_devices() {}  // hipRTC opens none

Status open(const worker::GpuDriver& driver, Device& device) {
  // Without a device the first call says `invalid device`, this one says what is wrong.
  int count = 0;
  Status status = driver.device_count(&count);
  if (status == kSuccess) status = driver.init(0);
  return status == kSuccess ? driver.device(&device, 0) : status;
}

Status enter(const worker::GpuDriver& driver, Device device) { return driver.set_device(device); }

/// Without the features after the name (gfx90a:sramecc+:xnack-): code that names none runs with any.
std::string architecture(const worker::GpuHandle& gpu) {
  hipDeviceProp_t properties{};
  if (gpu.driver.device_properties(&properties, gpu.device) != kSuccess) return "";
  const std::string name = properties.gcnArchName;
  return name.substr(0, name.find(':'));
}

std::string driver_version(const worker::GpuDriver& driver) {
  int version = 0;
  driver.version(&version);
  return fmt::format("HIP {}.{}.{}", version / 10'000'000, version / 100'000 % 100, version % 100'000);
}

std::vector<std::size_t> parameter_sizes(const worker::GpuDriver&, Function, const std::string& code,
                                         const std::string& kernel) {
  const auto kernels = wire::read_code_object(code);
  const auto found = kernels.find(kernel);
  return found == kernels.end() ? std::vector<std::size_t>() : found->second.parameters;
}

Status allow(const worker::GpuDriver&, const worker::GpuLaunch&) { return kSuccess; }

Status launch(const worker::GpuDriver& driver, const worker::GpuLaunch& launch, void** arguments) {
  const auto place = std::tuple_cat(std::tuple(launch.function), launch.grid, launch.block);
  return std::apply(driver.launch, std::tuple_cat(place, std::tuple(launch.shared, Stream(), arguments, nullptr)));
}

Status forget_kept_lines(const worker::GpuDriver&) { return kSuccess; }  // there are none

/// hipRTC's own version number has been 9.0 for years; the library's file name has ROCm's.
std::string version(const worker::GpuCompilerLibrary& compiler) {
  if (!chosen_compiler().empty()) return version_of_chosen_compiler();
  std::error_code error;
  const auto file = std::filesystem::canonical(compiler.path, error);
  return fmt::format("hipRTC of {}", (error ? compiler.path : file).filename().string());
}

/// The architectures of the code generator that hipRTC uses. hipRTC 5.2 aborts if it is asked for another one.
std::vector<std::string> architectures(const worker::GpuCompilerLibrary& compiler) {
  std::size_t count = 0;
  if (compiler.architecture_count(&count) != 0) throw std::runtime_error("hipRTC names no architectures");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const char* target = nullptr;  // amdgcn-amd-amdhsa--gfx90a
    if (compiler.architecture(i, &target) == 0)
      names.push_back(std::string(target).substr(std::string(target).rfind('-') + 1));
  }
  return names;
}

std::vector<std::string> includes(const worker::GpuCompilerLibrary&) { return {}; }  // they are built in

std::vector<std::string> options_for(const worker::GpuCompilerLibrary&, const std::string& arch) {
  return {"--offload-arch=" + arch};
}

std::vector<std::string> quick_options(const worker::GpuCompilerLibrary&) { return {}; }

std::vector<std::string> options_for_statistics() { return {}; }  // the code has them

std::map<std::string, worker::KernelResources> resources(const std::string& code, const std::string&) {
  std::map<std::string, worker::KernelResources> result;
  for (const auto& [name, kernel] : wire::read_code_object(code))
    result[name] = {kernel.vector_registers, 4 * kernel.spilled_registers, kernel.shared};
  return result;
}

std::string compile_error_advice(const std::string&) { return ""; }

}  // namespace tune::gpu
