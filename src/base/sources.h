#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

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

/// A source file and every header it includes, directly or not, that resolves. Conditionals are not evaluated: a header
/// that may be included counts, and so does every one of a name that several folders have.
struct Sources {
  std::map<std::filesystem::path, std::string> texts;
  /// `file.cpp:3` of the first include that names its header by a macro, and is therefore not followed; empty: none in
  /// files below the source's folder or the search's own ones.
  std::string macro_include;
};

/// Throws Error(bad_input) if a file cannot be read.
Sources read_sources(const std::filesystem::path& source, const HeaderSearch& search);

struct SourceHash {
  std::string hex;
  std::string macro_include;  ///< as in Sources
};

/// Hash of the names and texts of `read_sources`. Throws Error(bad_input) if a file cannot be read.
SourceHash hash_sources(const std::filesystem::path& source, const HeaderSearch& search);

}  // namespace tune::base
