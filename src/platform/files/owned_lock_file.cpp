#include "platform/files/owned_lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongest = 4096;

[[noreturn]] void fail_at(const fs::path& path, const std::string& why) {
  throw Error(ExitCode::environment, path.string() + " " + why);
}

std::string text_in(const Descriptor& file) {
  std::array<char, kLongest> text{};
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

bool is_ours(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_nlink <= 1 && (status.st_uid == 0 || status.st_uid == ::geteuid());
}

}  // namespace

OwnedLockFile::State OwnedLockFile::state_of(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return State::none;
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK ? State::held : State::none;
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 && is_ours(status) && leads_to(path, file) ? State::left : State::none;
}

std::string OwnedLockFile::text_of(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file ? text_in(file) : std::string();
}

std::optional<OwnedLockFile> OwnedLockFile::claim(const fs::path& path, std::string& holder) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    // Systems do not let users open files of others in /tmp with O_CREAT.
    if (!file && errno == ENOENT)
      file = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file && errno == EEXIST) continue;
    if (!file) fail_at(path, std::string("cannot be opened: ") + std::strerror(errno));
    // On a file system without locks nobody waits.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      holder = text_in(file);
      return std::nullopt;
    }
    if (!leads_to(path, file)) continue;  // whoever held it has just removed it
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !is_ours(status))
      fail_at(path, "belongs to another user; its owner or root has to remove it");
    std::string left = text_in(file);
    return OwnedLockFile(path, std::move(file), std::move(left));
  }
  fail_at(path, "is made and removed again and again by others");
}

// The old text is cut off after the new one is there: a process that is killed in between leaves no empty file.
void OwnedLockFile::write(std::string_view text) const {
  if (::lseek(file_.get(), 0, SEEK_SET) != 0 || !file_.write(text) ||
      ::ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0 || ::fsync(file_.get()) != 0)
    fail_at(path_, std::string("cannot be written: ") + std::strerror(errno));
}

void OwnedLockFile::remove() {
  ::unlink(path_.c_str());
  file_.close();
}

}  // namespace tune::platform
