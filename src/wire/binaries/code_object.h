#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tune::wire {

/// What an AMD code object says of one of its kernels (LLVM's "User Guide for AMDGPU Backend", code object metadata).
struct CodeObjectKernel {
  int vector_registers = 0;             ///< per work-item, accumulation registers included
  int spilled_registers = 0;            ///< vector registers that live in memory
  int shared = 0;                       ///< bytes of LDS declared in the source, per work-group
  std::vector<std::size_t> parameters;  ///< bytes of each, without those that the compiler adds
  std::vector<bool> addresses;          ///< whether each is the address of a buffer
  int max_threads = 0;                  ///< that a work-group may have; 0: not told
};

/// The kernels of a code object (an ELF file) by name, from the MessagePack of its metadata note; empty if it has no
/// such note. Throws Malformed if the note is not what it should be.
std::map<std::string, CodeObjectKernel> read_code_object(std::string_view elf);

}  // namespace tune::wire
