#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "platform/store/header_search.h"
#include "platform/store/watched_files.h"

namespace tune::platform {

/// A source file and every header it includes, directly or not, that resolves. Conditionals are not evaluated: a header
/// that may be included counts, and so does every one of a name that several folders have.
struct Sources {
  std::map<std::filesystem::path, std::string> texts;
  /// `file.cpp:3` of the first include that names its header by a macro, and is therefore not followed; empty: none in
  /// files below the source's folder or the search's own ones.
  std::string macro_include;
  WatchedFiles files;  ///< those of `texts`, as they are named, and where other headers were looked for
};

/// Throws Error(bad_input) if a file cannot be read.
Sources read_sources(const std::filesystem::path& source, const HeaderSearch& search);

struct SourceHash {
  std::string hex;
  std::string macro_include = {};  ///< as in Sources
  std::string named = {};          ///< hash of the names and contents of HeaderSearch::named; empty: there are none
  WatchedFiles files = {};         ///< all of them
};

/// Hash of the names and texts of `read_sources`. Throws Error(bad_input) if a file cannot be read.
SourceHash hash_sources(const std::filesystem::path& source, const HeaderSearch& search);

}  // namespace tune::platform
