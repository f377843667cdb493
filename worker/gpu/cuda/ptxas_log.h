#pragma once
#include <map>
#include <string>
#include <string_view>

namespace tune::worker {

/// What the assembler's `-v` lines say of one kernel.
struct KernelResources {
  int registers = 0;  ///< per thread
  int spills = 0;     ///< bytes stored and loaded per thread because registers did not suffice
  int shared = 0;     ///< bytes declared in the source, per block
};

/// Resources by kernel, out of a compiler's log with `--ptxas-options=-v`; other lines are skipped.
std::map<std::string, KernelResources> read_ptxas_log(std::string_view log);

}  // namespace tune::worker
