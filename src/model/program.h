#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tune {

/// The languages for which program mode has a default build rule.
enum class Language { c, cpp, cuda, hip };

/// The language by the suffix: .c, .cpp .cc .cxx, .cu, .hip; nullopt for any other. The values of `-D` are written as
/// C++ for programs in these languages, and verbatim for all others.
std::optional<Language> language_of(const std::filesystem::path& file);

/// Whether program mode builds `file`: there is a build.command or a default rule. If not, the file itself is run (a
/// script or an executable), and gets all parameters as arguments.
bool needs_build(const std::filesystem::path& file, const std::vector<std::string>& build_command);

}  // namespace tune
