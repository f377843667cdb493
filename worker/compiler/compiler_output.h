#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/trial.h"
#include "platform/process/process.h"

namespace tune::worker {

/// What a failed build tells in addition to its messages for people. Compilers are programs of their own. They say only
/// in their output that the system killed a part of them or that there was no room to write, and end with exit code 1
/// anyway. Only this function knows their words, which are English because we start them with LC_ALL=C.
FailureFacts facts_of_build(const platform::Exit& exit, std::string_view output);

/// ENOSPC or EDQUOT if a compiler could not write; else 0.
int room_error_of_build(std::string_view output);

/// The first line in which a compiler, an assembler or a linker says what is wrong, and what follows it. Both are empty
/// if no line does; `line` is then empty alone.
struct CompilerError {
  std::string_view line;
  std::string_view rest;
};
CompilerError first_error(std::string_view output);

/// Folders whose names in messages are of no use, because they differ from build to build or are long.
struct BuildFolders {
  std::filesystem::path source;                  ///< files in it are called by the rest of their path
  std::vector<std::filesystem::path> temporary;  ///< files in them are not called at all
};
/// An error as it is shown: without these folders, and what a linker says without the place in an object file. Mangled
/// names are those of the source, and sizes decimal.
std::string shown_error(std::string_view line, const BuildFolders& folders);
/// The text of a failed build: `line`, and below it the beginning of `rest` without statistics.
std::string message_with(std::string_view line, std::string_view rest);
/// What helps against an error; empty: nothing is known.
using Advice = std::string(const std::string& error);
/// Advice on a name in capitals that a C or C++ compiler does not know, and that a parameter may have to define.
Advice advice_on_macro;
/// The same of what a compiler printed: the error, or `otherwise` if there is none, with advice, and below it what
/// follows in the output.
std::string message_of_build(std::string_view output, const BuildFolders& folders, const std::string& otherwise,
                             Advice& advice = advice_on_macro);

/// The environment variable in which GCC, whoever starts it, finds the file to append the rules of make to that say
/// what it read.
inline constexpr const char* kDependenciesVariable = "DEPENDENCIES_OUTPUT";

/// What compilers that ran in `folder` have read, as they say in a file of such rules, which is removed: full paths.
/// Files of the system (below /usr and /opt), temporary ones, such as those in the file's own folder, and those in
/// `ours` are left out. Empty if there is no such file, because the compiler does not write it.
std::vector<std::string> files_read(const std::filesystem::path& rules, const std::filesystem::path& folder,
                                    const std::filesystem::path& ours = {});

}  // namespace tune::worker
