#pragma once
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/device.h"
#include "model/plan.h"

namespace tune::platform {

/// Where a compiler finds headers, beyond the folders of the source and of the including header; and what else its
/// command line names.
struct HeaderSearch {
  std::vector<std::filesystem::path> folders;
  std::vector<std::string> included;            ///< ahead of the source: `-include FILE`
  std::filesystem::path working_folder;         ///< what the compiler runs in
  std::vector<std::filesystem::path> own = {};  ///< of `folders`, those of the user's own headers
  /// Files that are no headers: libraries, files of options (`@FILE`), scripts, and the programs of a build.command.
  std::set<std::filesystem::path> named = {};
};

/// Adds what the words of a compiler's command line say, as GCC, Clang, nvcc, NVRTC and hipRTC spell it: -I, -iquote,
/// -isystem, -idirafter, -include, -imacros, --include-path, --pre-include and their kin, joined or followed by theirs;
/// `@FILE` is replaced by the words of that file. Of other words, those that are the name of a file or have one behind
/// `=` or `,` name it, and `-lNAME` names libraries in folders of -L and LIBRARY_PATH.
void add_flags(HeaderSearch& search, std::span<const std::string> words);
/// Adds the folders of CPATH, C_INCLUDE_PATH and CPLUS_INCLUDE_PATH.
void add_environment(HeaderSearch& search);

/// The environment variables whose words compilers get in addition to those of their command line.
inline constexpr const char* kCompilerVariables[] = {"CXX", "CC", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
                                                     "HIPCC_COMPILE_FLAGS_APPEND"};

/// Adds the programs on PATH that the words of a build.command name, those with a path that it begins with, and of a
/// command without a shell what its other words name. What a shell's command reads beyond that is not known.
void add_command(HeaderSearch& search, const std::vector<std::string>& command, bool is_shell);

/// Where the compiler of a tuning finds the headers of a source: as the rules and the environment say.
HeaderSearch header_search(const BuildRules& rules, Backend backend, const std::filesystem::path& source);

}  // namespace tune::platform
