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
#ifdef TUNE_GPU_GENERATOR
  TUNE_GPU_GENERATOR(TUNE_MEMBER)
#endif
#undef TUNE_MEMBER
  std::filesystem::path path;  ///< of the library
  static GpuCompilerLibrary open();
};

/// Where a toolkit may be, apart from what the loader knows: the user's choice (CUDA_HOME, ROCM_PATH), then the usual
/// place.
std::vector<std::filesystem::path> toolkits();

/// The display driver's own version (580.95.05), which CUDA's does not tell; nullopt if NVML is absent.
std::optional<std::string> display_driver_version();

}  // namespace tune
