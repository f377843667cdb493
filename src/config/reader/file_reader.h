#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/reader/load.h"
#include "config/yaml/fields.h"

namespace tune::config {

/// By which backend it is tuned.
struct FileSection {
  std::optional<Backend> backend;  ///< unset if it is invalid, which is reported
  std::vector<Backend> others;     ///< backends of the file's other sources
  bool is_command = false;         ///< `run` names an installed command, and there is no file
};

/// Reads `file:`, `backend:` and whether there is `kernel:`; the plan gets the sources. `auto` goes by suffix, and in a
/// mapping by what is present in the order cuda, hip, cpu.
FileSection read_file_section(const Fields& top, const std::filesystem::path& folder, const LoadRules& rules,
                              Plan& plan);

/// `path`, relative to `folder`, in normal form and without a slash at its end.
std::filesystem::path join(const std::filesystem::path& folder, const std::filesystem::path& path);

/// A path as a tuning file has it, where a $ begins the name of a variable.
std::string without_references(const std::string& path);
/// The path that a tuning file means by `text`; nullopt if it names a variable.
std::optional<std::string> literal_path(const std::string& text);

/// Reads a path, and returns it as an absolute one: $VAR and ${VAR} are replaced (an unset variable is reported), $$
/// becomes $, and a relative path starts at `folder`.
std::filesystem::path resolve(const Node& node, const std::filesystem::path& folder, Diagnostics& diagnostics);

}  // namespace tune::config
