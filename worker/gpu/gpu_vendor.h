#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/cuda/ptxas_log.h"
#include "gpu/gpu_device.h"

/// What the vendors' interfaces do in different ways, rather than under different names; gpu_vendor_cuda.cpp and
/// gpu_vendor_hip.cpp define it, each for its own executable.
namespace tune::gpu {

/// `an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)`
std::string describe(const worker::GpuDriver& driver, Status status);
/// What can be done if there is no device, or an empty text.
std::string device_advice();

/// Before a process that only compiles opens the compiler: from then on it cannot open a device.
void renounce_devices();
/// The first call to the driver, and the first device.
Status open(const worker::GpuDriver& driver, Device& device);
/// Gives this process a context of the device.
Status enter(const worker::GpuDriver& driver, Device device);
/// What to build for on this device: sm_90a, gfx90a.
std::string architecture(const worker::GpuHandle& gpu);
std::string driver_version(const worker::GpuDriver& driver);

/// The sizes of a kernel's parameters in bytes. `code` is what it was loaded from.
std::vector<std::size_t> parameter_sizes(const worker::GpuDriver& driver, Function function, const std::string& code,
                                         const std::string& kernel);
/// Raises the limits that a kernel has by default to what this launch needs.
Status allow(const worker::GpuDriver& driver, const worker::GpuLaunch& launch);
Status launch(const worker::GpuDriver& driver, const worker::GpuLaunch& launch, void** arguments);
/// Makes lines of the L2 cache that a kernel has asked to keep like any others.
Status forget_kept_lines(const worker::GpuDriver& driver);

/// A compiler that the user has chosen instead of the vendor's library, by the functions of the latter; nullopt: none.
/// Throws std::runtime_error if it is not there.
std::optional<worker::GpuCompilerLibrary> chosen_library();
/// Everything that tells this compiler from others: `NVRTC 13.0`.
std::string version(const worker::GpuCompilerLibrary& compiler);
/// Empty: it does not tell.
std::vector<std::string> architectures(const worker::GpuCompilerLibrary& compiler);
/// Folders of headers that a kernel finds without being told.
std::vector<std::string> includes(const worker::GpuCompilerLibrary& compiler);
/// Options that choose the architecture, and make the code of a source the same in every process: of NVRTC since 12.9.
std::vector<std::string> options_for(const worker::GpuCompilerLibrary& compiler, const std::string& arch);
/// Options that put into the log what `resources` finds there.
std::vector<std::string> options_for_statistics();
/// The option that keeps multiplications and additions apart.
extern const char* const kNoContraction;
/// Options that make it quicker, and loops of arithmetic slower.
std::vector<std::string> quick_options(const worker::GpuCompilerLibrary& compiler);
/// What the compiler said of the kernels it compiled: in its log or in the code.
std::map<std::string, worker::KernelResources> resources(const std::string& code, const std::string& log);
/// What can be done about this error of the compiler, or an empty text.
std::string compile_error_advice(const std::string& error);

}  // namespace tune::gpu
