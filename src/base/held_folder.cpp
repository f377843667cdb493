#include "base/held_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

// Nobody sets the sticky bit on a folder that its owner alone may write, so it marks ours. A file in the folder would
// not be there yet for a run that is killed in between.
constexpr mode_t kMode = S_ISVTX | S_IRWXU;

Descriptor open_folder(const fs::path& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Where the file system has no locks, a folder is in use for a day.
bool is_abandoned(const fs::path& path) {
  const Descriptor folder = open_folder(path);
  struct stat status {};
  if (!folder || ::fstat(folder.get(), &status) != 0) return false;
  constexpr mode_t kInherited = S_IFMT | S_ISGID;
  if (status.st_uid != ::geteuid() || (status.st_mode & ~kInherited) != kMode) return false;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return true;
  const auto changed = std::chrono::system_clock::from_time_t(status.st_mtime);
  return errno != EWOULDBLOCK && std::chrono::system_clock::now() - changed > std::chrono::hours(24);
}

}  // namespace

HeldFolder::HeldFolder(const fs::path& parent, const std::string& prefix, const std::string& advice) {
  const auto fail = [&] {
    throw Error(ExitCode::environment, "cannot create " + path_.string() + ": " + std::strerror(errno) + advice);
  };
  struct stat status {};
  for (int i = 0; status.st_nlink == 0; ++i) {
    path_ = parent / (prefix + std::to_string(::getpid()) + "-" + std::to_string(i));
    if (::mkdir(path_.c_str(), kMode) != 0) {
      if (errno == EEXIST) continue;
      fail();
    }
    lock_ = open_folder(path_);
    // Before we hold it, another run may take it for abandoned.
    if (lock_) ::flock(lock_.get(), LOCK_EX);
    if (!lock_ && errno != ENOENT) fail();
    if (lock_) ::fstat(lock_.get(), &status);
  }
}

void HeldFolder::remove_abandoned(const fs::path& parent, const std::string& prefix) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    const bool candidate = entry->path().filename().string().starts_with(prefix);
    std::error_code ignored;
    if (candidate && is_abandoned(entry->path())) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace tune
