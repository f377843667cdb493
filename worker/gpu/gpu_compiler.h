#pragma once
#include <string>
#include <vector>

#include "gpu/gpu_vendor.h"

namespace tune::worker {

/// The run-time compiler: source text to code for one architecture, in this process, with or without a GPU.
class GpuCompiler {
 public:
  struct Header {
    const char* name;
    const char* text;
  };
  struct Result {
    bool compiled = false;
    std::string code;  ///< for the device
    std::string log;
  };

  /// Throws std::runtime_error if there is no compiler.
  GpuCompiler();

  std::string version() const { return gpu::version(library_); }  ///< `NVRTC 13.0`
  /// `sm_75`, ..., `sm_90`, `sm_90a`, ..., or `gfx906`, ...
  std::vector<std::string> architectures() const { return gpu::architectures(library_); }
  std::vector<std::string> includes() const { return gpu::includes(library_); }
  std::vector<std::string> quick_options() const { return gpu::quick_options(library_); }

  /// `path` names the source: its folder is where NVRTC looks for headers first, and its name stands in messages.
  /// Throws std::runtime_error for what is not the source's fault, such as an architecture that the compiler does not
  /// know.
  Result compile(const std::string& path, const std::string& source, const std::string& arch,
                 const std::vector<std::string>& options, const std::vector<Header>& headers = {}) const;

 private:
  void check(gpu::CompilerStatus status) const;

  GpuCompilerLibrary library_;
};

}  // namespace tune::worker
