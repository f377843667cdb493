#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tune::wire {

/// What the code for an NVIDIA device says of one of its kernels, in its section .nv.info.KERNEL. NVIDIA does not
/// describe the format; the attributes are those that its `cuobjdump -elf` prints as EIATTR_KPARAM_INFO,
/// EIATTR_CBANK_PARAM_SIZE and EIATTR_MAX_THREADS (CUDA 13.0).
struct CubinKernel {
  std::vector<std::size_t> parameters;  ///< bytes of each
  std::int64_t max_threads = 0;         ///< that a block may have by __launch_bounds__; 0: not told
};

/// The kernels of a cubin (an ELF file) by name. Throws Malformed if it is cut off, or does not describe its parameters
/// in this way.
std::map<std::string, CubinKernel> read_cubin(std::string_view elf);

}  // namespace tune::wire
