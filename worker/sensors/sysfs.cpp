#include "sensors/sysfs.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "model/values/text.h"

namespace tune::worker {
namespace fs = std::filesystem;

fs::path sysfs(const std::string& below) {
  const char* asked = std::getenv("TUNE_SYSFS");
  return fs::path(asked != nullptr && *asked != '\0' ? asked : "/sys") / below;
}

std::string sysfs_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<std::int64_t> sysfs_number(const fs::path& file) { return number_from<std::int64_t>(sysfs_line(file)); }

std::vector<fs::path> sysfs_numbered(const fs::path& folder, const std::string& prefix) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    if (const auto number = number_from<std::int64_t>(std::string_view(name).substr(prefix.size())))
      found.emplace_back(*number, entry.path());
  }
  std::ranges::sort(found);
  std::vector<fs::path> paths;
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

// Domain `psys` is the whole machine; what begins with `intel-rapl-mmio` is the same packages by another way.
std::vector<fs::path> rapl_packages() {
  std::vector<fs::path> packages = sysfs_numbered(sysfs("class/powercap"), "intel-rapl:");
  std::erase_if(packages, [](const fs::path& domain) { return !sysfs_line(domain / "name").starts_with("package"); });
  return packages;
}

}  // namespace tune::worker
