#include "host/nvidia_nodes.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>

#include "platform/files/descriptor.h"

namespace tune::worker {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kOpening = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;

/// `GPU UUID:    GPU-...`, `Device Minor:    2`, ...
std::map<std::string, std::string> read_fields(const fs::path& file) {
  std::map<std::string, std::string> fields;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':'), value = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && value != std::string::npos) fields[line.substr(0, colon)] = line.substr(value);
  }
  return fields;
}

bool is_or_holds(const fs::path& path, const fs::path& file) {
  return std::ranges::mismatch(path, file).in1 == path.end();
}

/// True also for what is not there.
bool allow(const fs::path& path, std::uint64_t access, int rules) {
  const platform::Descriptor parent(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!parent) return errno == ENOENT;
  const landlock_path_beneath_attr rule = {access, parent.get()};
  return ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

/// A rule allows what lies below a path: so what leads to none of the files is allowed, and of the rest what is in it.
/// A link needs no rule, its target has one; and /dev/stdin leads to a pipe, for which there can be none. False:
/// something could not be allowed.
bool allow_all_but(const std::vector<fs::path>& files, const fs::path& folder, int rules) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    if (entry->is_symlink(error)) continue;  // what it leads to has a rule of its own, or must have none
    if (std::ranges::find(files, path) != files.end()) continue;
    if (std::ranges::any_of(files, [&](const fs::path& file) { return is_or_holds(path, file); })) {
      if (!allow_all_but(files, path, rules)) return false;
      continue;
    }
    if (!allow(path, kOpening, rules)) return false;
  }
  return !error;
}

platform::Descriptor new_rules() {
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = kOpening;
  return platform::Descriptor(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
}

bool apply(int rules) {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

}  // namespace

std::vector<fs::path> nodes_of_other_gpus(const std::string& uuid, const fs::path& driver, const fs::path& devices) {
  std::vector<fs::path> others;
  bool known = false;
  std::error_code error;
  for (const fs::directory_entry& gpu : fs::directory_iterator(driver, error)) {
    auto fields = read_fields(gpu.path() / "information");
    const fs::path node = devices / ("nvidia" + fields["Device Minor"]);
    if (fields["GPU UUID"] == uuid)
      known = true;
    else if (!fields["Device Minor"].empty() && fs::exists(node, error))
      others.push_back(node);
  }
  std::ranges::sort(others);
  return known ? others : std::vector<fs::path>();
}

std::vector<fs::path> nvidia_nodes(const fs::path& devices) {
  std::vector<fs::path> nodes;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(devices, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("nvidia") || name == "dxg") nodes.push_back(entry.path());
  }
  return nodes;
}

bool renounce(const std::vector<fs::path>& paths) {
  const platform::Descriptor rules = new_rules();
  return rules && allow_all_but(paths, "/", rules.get()) && apply(rules.get());
}

bool renounce_the_system() {
  const platform::Descriptor rules = new_rules();
  if (!rules || !allow_all_but({"/proc", "/sys"}, "/", rules.get())) return false;
  for (const char* folder : {"/proc", "/sys"})
    if (!allow(folder, LANDLOCK_ACCESS_FS_READ_FILE, rules.get())) return false;
  return apply(rules.get());
}

}  // namespace tune::worker
