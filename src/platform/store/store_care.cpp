#include "platform/store/store_care.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

/// Entries are called by the 32 digits of their key; folders in which builds are made are not.
bool is_key(const std::string& name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Of all files in it; links are not followed.
std::int64_t bytes_in(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    struct stat status {};
    if (::lstat(file->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) bytes += status.st_size;
  }
  return bytes;
}

}  // namespace

std::vector<StoreEntry> entries_of(const fs::path& folder) {
  std::vector<StoreEntry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    struct stat status {};
    const fs::path& path = entry->path();
    if (!is_key(path.filename().string()) || ::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    std::error_code gone;
    const fs::file_time_type used = fs::last_write_time(path, gone);
    if (!gone) entries.push_back({path, bytes_in(path), used, status.st_uid == ::geteuid()});
  }
  std::ranges::sort(entries, {}, &StoreEntry::used);
  return entries;
}

bool remove_entry(const StoreEntry& entry) {
  if (!entry.own) return false;
  // The name is that of an unfinished build, which a later run removes if this one is killed.
  const fs::path leaving =
      entry.path.parent_path() / ("tmp." + entry.path.filename().string() + "." + std::to_string(::getpid()));
  std::error_code error;
  fs::rename(entry.path, leaving, error);
  if (error) return false;
  fs::remove_all(leaving, error);
  return true;
}

void trim(const fs::path& folder, std::int64_t limit) {
  const std::vector<StoreEntry> entries = entries_of(folder);
  std::int64_t bytes = 0;
  for (const StoreEntry& entry : entries) bytes += entry.bytes;
  const auto recently = fs::file_time_type::clock::now() - kRecentlyUsed;
  for (const StoreEntry& entry : entries) {
    if (bytes <= limit || entry.used > recently) return;
    if (remove_entry(entry)) bytes -= entry.bytes;
  }
}

}  // namespace tune::platform
