#pragma once
#include <string>
#include <vector>

#include "gpu_library.h"

namespace tune {

/// The run-time compiler: source text to code for one architecture, in this process, with or without a GPU.
class GpuCompiler {
 public:
  struct Header {
    const char* name;
    const char* text;
  };
  struct Result {
    bool compiled = false;
    std::string code;  ///< a cubin
    std::string log;
  };

  /// Throws std::runtime_error if there is no compiler.
  GpuCompiler() : library_(GpuCompilerLibrary::open()) {}

  std::string version() const;  ///< `NVRTC 13.0`
  /// `sm_75`, ..., `sm_90`, `sm_90a`, ...
  std::vector<std::string> architectures() const;
  std::vector<std::string> includes() const { return toolkit_includes(library_); }

  /// `name` stands for the source in messages. Throws std::runtime_error for what is not the source's fault.
  Result compile(const std::string& name, const std::string& source, const std::vector<std::string>& options,
                 const std::vector<Header>& headers = {}) const;

 private:
  void check(gpu::CompilerStatus status) const;

  GpuCompilerLibrary library_;
};

/// What to build for on a device of this compute capability: the architecture's own instructions (wgmma, TMA) where it
/// has some, from 9.0 on.
std::string architecture_of(int major, int minor);

}  // namespace tune
