#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/plan.h"

namespace tune {

/// The languages for which program mode has a default build rule.
enum class Language { c, cpp, cuda, hip };

/// The language by the suffix: .c, .cpp .cc .cxx, .cu, .hip; nullopt for any other. The values of `-D` are written as
/// C++ for programs in these languages, and verbatim for all others.
std::optional<Language> language_of(const std::filesystem::path& file);

/// Whether anything is built for a spec: all kernels are, and programs for which there is a build.command or a default
/// rule. Else the file itself is run (a script or an executable), and gets all parameters as arguments.
bool is_built(const Plan& plan);

/// The parameter that chooses among the sources of `file: [a.cu, b.cu]`.
inline constexpr const char* kFileParameter = "file";
/// All sources of a plan; none of an installed command.
std::vector<std::filesystem::path> files_of(const Plan& plan);
/// The source of a spec.
const std::filesystem::path& file_of(const Plan& plan, std::span<const Setting> params);
/// The placeholder in a plan's prefix that stands for the number of the spec.
inline constexpr const char* kSpecNumber = "mesh_idx";

/// What the names of parameters and derived values stand for in commands. An empty value is no word at all.
Placeholders values_in_commands(const Space& space, const Spec& spec);

/// What `{args}` stands for: `--NAME=V` for every parameter that is not built into the program and has no placeholder
/// of its own in `run:`.
Words arguments_of(const Plan& plan, const Spec& spec);

/// The programs that must be installed: that of the prefix, and those that `run:` of a command starts, one for each
/// value of a parameter in its first word; none where a shell starts them. Identities of trials depend on them.
std::set<std::string> programs_of(const Plan& plan);
/// The program that `run:` of a command starts for this baseline; empty: none, or a shell does.
std::string program_of(const Plan& plan, const Baseline& baseline);

}  // namespace tune
