#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tune::worker {

/// The environment variable in which GCC, whoever starts it, finds the file to append the rules of make to that say
/// what it read.
inline constexpr const char* kDependenciesVariable = "DEPENDENCIES_OUTPUT";

/// The files that rules of make name behind their colons, each once, as they are written.
std::vector<std::string> prerequisites_in(std::string_view rules);

/// What compilers that ran in `folder` have read, as they say in a file of such rules, which is removed: full paths.
/// Files of the system (below /usr and /opt), temporary ones, such as those in the file's own folder, and those in
/// `ours` are left out. Empty if there is no such file, because the compiler does not write it.
std::vector<std::string> files_read(const std::filesystem::path& rules, const std::filesystem::path& folder,
                                    const std::filesystem::path& ours = {});

}  // namespace tune::worker
