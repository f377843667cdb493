#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "commands/init/names_and_types.h"
#include "commands/init/tokens.h"

namespace tune::commands {

/// A static_assert.
struct Assertion {
  Tokens condition;
  std::string because;
};

struct KernelArgument {
  std::string type;  ///< as it is written, without `const` and `*`: `unsigned int`, `float4`
  std::string name;  ///< empty: it has none
  bool is_pointer = false, is_const = false, is_reference = false;
  bool is_tensor_map = false;  ///< `const __grid_constant__ CUtensorMap`; it counts as a pointer, too
  int line = 0;
  Tokens condition = {};  ///< of the `#if` that it stands in; empty: it is always there
};

struct Kernel {
  std::string name;
  int line = 0;
  bool has_c_linkage = false;  ///< is in extern "C"
  bool is_template = false;
  std::vector<KernelArgument> arguments;
  Tokens body;
  std::map<std::string, Tokens> constants;  ///< of its body, as those of KernelSource
  Tokens launch_bounds;                     ///< what is in the brackets of __launch_bounds__
};

/// A name that the source uses and does not define, or that it defines only if the build does not.
struct BuildMacro {
  std::string name;
  std::string value = {};  ///< that of the source, behind #ifndef; empty: there is none
};

/// What a source file and the headers beside it say, as far as that can be told without a compiler.
struct KernelSource {
  std::vector<Kernel> kernels;  ///< __global__ functions on GPUs, extern "C" ones on the CPU
  std::vector<BuildMacro> macros;
  std::map<std::string, Tokens>
      constants;  ///< outside of functions: of `#define NAME ...` and `constexpr int NAME = ...;`
  std::vector<Assertion> assertions;
  std::vector<std::string> fixed_numbers;  ///< `TILE (line 3)`: constants that could be parameters
  Tokens code;                             ///< of all files, with what pragmas and definitions name
  bool uses_openmp = false;
  std::set<std::string> thread_counts;  ///< what OpenMP's num_threads names
  int line_of_host_code = 0;            ///< of the first launch with <<< >>> or main; 0: there is none

  /// Whether it says with how many threads a kernel for the CPU runs.
  bool counts_threads(const std::string& name) const { return is_thread_count(name) || thread_counts.contains(name); }
};

/// Throws Error(bad_input) if the file cannot be read.
KernelSource read_kernel_source(const std::filesystem::path& file, bool for_gpu);

}  // namespace tune::commands
