#include "platform/files/locked_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

// On a folder that only its owner may write to, the sticky bit has no use, so nobody sets it: it marks our folders.
constexpr mode_t kMode = S_ISVTX | S_IRWXU;

Descriptor open_folder(const fs::path& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_older_than_a_day(const struct stat& status) {
  const auto changed = std::chrono::system_clock::from_time_t(status.st_mtime);
  return std::chrono::system_clock::now() - changed > std::chrono::hours(24);
}

/// Locks a folder of this user that no run holds, so that no run takes it while it is removed. Returns none if it is
/// not such a folder. If the file system does not support locks, a folder counts as in use for a day.
Descriptor lock_abandoned(const fs::path& path, bool known) {
  Descriptor folder = open_folder(path);
  struct stat status {};
  if (!folder || ::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid()) return Descriptor();
  constexpr mode_t kInherited = S_IFMT | S_ISGID;
  const bool marked = (status.st_mode & ~kInherited) == kMode;
  const bool locked = ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno == EWOULDBLOCK) return Descriptor();
  // Earlier versions neither marked nor locked theirs.
  if (!(marked && locked) && !((marked || known) && is_older_than_a_day(status))) return Descriptor();
  return leads_to(path, folder) ? std::move(folder) : Descriptor();
}

}  // namespace

LockedFolder::LockedFolder(const fs::path& parent, const std::string& prefix, const std::string& advice) {
  const auto fail = [&] {
    throw Error(ExitCode::environment, "cannot create " + path_.string() + ": " + std::strerror(errno) + advice);
  };
  constexpr int kNames = 100;
  for (int i = 0; i < kNames; ++i) {
    path_ = parent / (prefix + std::to_string(::getpid()) + "-" + std::to_string(i));
    if (::mkdir(path_.c_str(), S_IRWXU) != 0) {
      if (errno == EEXIST) continue;
      fail();
    }
    lock_ = open_folder(path_);
    if (lock_) ::flock(lock_.get(), LOCK_EX);
    // Marked before it is held, another run would take it for abandoned.
    if (lock_ && ::fchmod(lock_.get(), kMode) == 0) return;
    const int why = errno;
    ::rmdir(path_.c_str());
    errno = why;
    fail();
  }
  errno = EEXIST;
  fail();
}

void LockedFolder::remove_abandoned(const fs::path& parent, const std::string& prefix,
                                    bool (*known)(const std::string&)) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const Descriptor lock = lock_abandoned(entry->path(), known != nullptr && known(name));
    std::error_code ignored;
    if (lock) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace tune::platform
