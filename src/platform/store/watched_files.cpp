#include "platform/store/watched_files.h"

#include <sys/stat.h>

#include <string_view>

#include "model/values/error.h"
#include "platform/store/store.h"

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

// A shared library of gigabytes would be read for seconds at each start.
constexpr std::int64_t kMostHashed = 64 << 20;

std::string identity_of(const FileStamp& stamp, std::string_view text) {
  if (stamp.bytes <= kMostHashed) return Hash().add(text).hex();
  return std::to_string(stamp.bytes) + " bytes of " + std::to_string(stamp.seconds);
}

std::string identity_now(const FileStamp& stamp, const fs::path& file) {
  return identity_of(stamp, stamp.bytes <= kMostHashed ? read_file(file) : "");
}

/// Empty if there is no file that can be read.
std::string identity_if_readable(const FileStamp& stamp, const fs::path& file) try {
  return stamp == FileStamp() ? "" : identity_now(stamp, file);
} catch (const Error&) {
  return "";
}

}  // namespace

FileStamp stamp_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_ino, status.st_size, status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
}

// The stamp is older than the text, so that what is written in between is noticed.
std::string WatchedFiles::read(const fs::path& file) {
  const FileStamp stamp = stamp_of(file);
  std::string text = read_file(file);
  states_.try_emplace(file, State{stamp, identity_of(stamp, text)});
  return text;
}

std::string WatchedFiles::identity(const fs::path& file) {
  const FileStamp stamp = stamp_of(file);
  return states_.try_emplace(file, State{stamp, identity_now(stamp, file)}).first->second.identity;
}

bool WatchedFiles::finds(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_regular_file(file, ignored)) return true;
  states_.try_emplace(file);
  return false;
}

void WatchedFiles::add(const WatchedFiles& other) { states_.insert(other.states_.begin(), other.states_.end()); }

std::vector<fs::path> WatchedFiles::paths() const {
  std::vector<fs::path> paths;
  for (const auto& [file, state] : states_) paths.push_back(file);
  return paths;
}

std::optional<WatchedFiles::Change> WatchedFiles::change() {
  std::optional<Change> worst;
  for (auto& [file, state] : states_) {
    const FileStamp stamp = stamp_of(file);
    if (stamp == state.stamp) continue;
    std::string identity = identity_if_readable(stamp, file);
    const Event event = identity == state.identity ? Event::rewritten
                        : state.identity.empty()   ? Event::appeared
                                                   : Event::changed;
    if (!worst || event == Event::changed) worst = Change{file, event};
    state = {stamp, std::move(identity)};
  }
  return worst;
}

}  // namespace tune::platform
