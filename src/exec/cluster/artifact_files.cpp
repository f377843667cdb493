#include "exec/cluster/artifact_files.h"

#include <algorithm>
#include <filesystem>

#include "platform/files/file.h"

namespace tune::exec {
namespace fs = std::filesystem;
namespace {

constexpr const char* kExecutable = "x:";  // before the names of programs

bool is_executable(const fs::path& file) {
  return (fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

bool is_sound(const wire::ArtifactFiles& files) {
  std::uint64_t bytes = 0;
  for (const auto& [name, size] : files.files) bytes += size;
  return bytes == files.data.size() &&
         std::ranges::all_of(files.files, [](const auto& file) { return is_plain_name(file.first); });
}

}  // namespace

wire::ArtifactFiles pack(const std::string& key, const Artifact* artifact) {
  wire::ArtifactFiles files{key, {}};
  if (artifact == nullptr || artifact->path.empty()) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(artifact->path.parent_path())) {
    if (!entry.is_regular_file()) continue;
    const std::string text = platform::read_file(entry.path());
    files.files.emplace_back((is_executable(entry.path()) ? kExecutable : "") + entry.path().filename().string(),
                             text.size());
    files.data += text;
  }
  return files;
}

void unpack(const wire::ArtifactFiles& files, const platform::Store& store) {
  if (files.files.empty() || !is_sound(files)) return;
  const platform::LockedFolder folder = store.begin(files.key);
  std::size_t at = 0;
  for (const auto& [written, size] : files.files) {
    const bool executable = written.starts_with(kExecutable);
    const fs::path file = folder.path() / (executable ? written.substr(2) : written);
    platform::write_file(file, files.data.substr(at, size));
    if (executable) fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
    at += size;
  }
  store.commit(folder.path(), files.key);
  store.discard(folder.path());
}

}  // namespace tune::exec
