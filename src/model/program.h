#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tune {

/// The languages that program mode has a default build rule for.
enum class Language { c, cpp, cuda, hip };

/// By suffix: .c, .cpp .cc .cxx, .cu, .hip; nullopt for any other. The values of `-D` are spelled for C++ where there
/// is a language, and verbatim for all other programs.
std::optional<Language> language_of(const std::filesystem::path& file);

/// Whether program mode builds `file`: there is a build.command or a default rule. If not, the file itself is run (a
/// script or an executable), and gets all parameters as arguments.
bool needs_build(const std::filesystem::path& file, const std::vector<std::string>& build_command);

}  // namespace tune
