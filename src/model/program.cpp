#include "model/program.h"

namespace tune {

std::optional<Language> language_of(const std::filesystem::path& file) {
  const std::string suffix = file.extension().string();
  if (suffix == ".c") return Language::c;
  if (suffix == ".cpp" || suffix == ".cc" || suffix == ".cxx") return Language::cpp;
  if (suffix == ".cu") return Language::cuda;
  if (suffix == ".hip") return Language::hip;
  return std::nullopt;
}

bool needs_build(const std::filesystem::path& file, const std::vector<std::string>& build_command) {
  return !build_command.empty() || language_of(file);
}

}  // namespace tune
