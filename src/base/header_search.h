#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/device.h"
#include "model/plan.h"

namespace tune::base {

/// Where a compiler finds headers, beyond the folders of the source and of the including header.
struct HeaderSearch {
  std::vector<std::filesystem::path> folders;
  std::vector<std::string> included;            ///< ahead of the source: `-include FILE`
  std::filesystem::path working_folder;         ///< what the compiler runs in
  std::vector<std::filesystem::path> own = {};  ///< of `folders`, those of the user's own headers
};

/// Adds what the words of a compiler's command line say, as GCC, Clang, nvcc, NVRTC and hipRTC spell it: -I, -iquote,
/// -isystem, -idirafter, -include, -imacros, --include-path, --pre-include and their kin, joined or followed by theirs.
void add_flags(HeaderSearch& search, std::span<const std::string> words);
/// Adds the folders of CPATH, C_INCLUDE_PATH and CPLUS_INCLUDE_PATH.
void add_environment(HeaderSearch& search);

/// The environment variables whose words compilers get in addition to those of their command line.
inline constexpr const char* kCompilerVariables[] = {"CXX", "CC", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
                                                     "HIPCC_COMPILE_FLAGS_APPEND"};

/// Where the compiler of a tuning finds the headers of a source: as the rules and the environment say.
HeaderSearch header_search(const BuildRules& rules, Backend backend, const std::filesystem::path& source);

}  // namespace tune::base
