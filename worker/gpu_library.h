#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gpu_api.h"

namespace tune {

/// The driver's and the run-time compiler's functions. Both libraries are opened at run time, because most machines
/// that build and plan have neither; they stay open until the process ends. Throw std::runtime_error with the loader's
/// reason.
struct GpuDriver {
#define TUNE_MEMBER(member, function) decltype(&function) member = nullptr;
  TUNE_GPU_DRIVER(TUNE_MEMBER)
  static GpuDriver open();
};

struct GpuCompilerLibrary {
  TUNE_GPU_COMPILER(TUNE_MEMBER)
#undef TUNE_MEMBER
  std::filesystem::path path;  ///< of the library
  static GpuCompilerLibrary open();
};

/// Folders with the toolkit's headers: those beside the compiler's library, or else of CUDA_HOME, CUDA_PATH, or of the
/// toolkit that this worker was built with.
std::vector<std::string> toolkit_includes(const GpuCompilerLibrary& compiler);

/// The display driver's own version (580.95.05), which CUDA's does not tell; nullopt if NVML is absent.
std::optional<std::string> display_driver_version();

}  // namespace tune
