#pragma once
// The vendor's interface under names of our own: types, constants, and the functions that are looked up at run time.
// The GPU backend is compiled once for each vendor; all but gpu_*_cuda.* and gpu_*_hip.* is written in these names.
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#ifdef TUNE_HIP
#include "gpu/hip/gpu_api_hip.h"
#else
#include "gpu/cuda/gpu_api_cuda.h"
#endif

namespace tune::worker {

/// A shared library, open until the process ends.
class GpuLibrary {
 public:
  /// Opens the first of `places` that is available. Throws std::runtime_error with the loader's reason.
  explicit GpuLibrary(const std::vector<std::string>& places);
  const std::string& place() const { return place_; }
  /// Throws std::runtime_error if the library has no such symbol.
  template <typename Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address(symbol));
  }

 private:
  void* address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string place_;
};

/// Where libraries of these names may be: in a toolkit's own folders, then in what this was built with, then where the
/// loader looks.
std::vector<std::string> places_of(std::span<const char* const> names);

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

}  // namespace tune::worker
