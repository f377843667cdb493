#include "platform/files/shared_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "model/values/error.h"
#include "platform/files/file.h"

namespace tune::platform {
namespace {

constexpr int kMostLinks = 40;  // as the system

/// Follows links, so that the file they lead to is replaced and not the link; also if there is no such file yet.
std::filesystem::path target_of(std::filesystem::path path) {
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i)
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

SharedFile::SharedFile(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    throw Error(ExitCode::environment,
                "cannot write " + path.string() + ": " + why + "; fix this, or choose another place");
  };
  // Whoever waits for the lock gets that of the file that was replaced meanwhile, and tries the new one.
  do {
    path_ = target_of(path);
    if (const std::string kind = kind_of_file(path_); !kind.empty()) fail("it is " + kind);
    file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file_) fail(std::strerror(errno));
    while (::flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  } while (!leads_to(path_, file_));
  struct stat status {};
  empty_ = ::fstat(file_.get(), &status) == 0 && status.st_size == 0;
}

SharedFile::~SharedFile() {
  if (empty_) ::unlink(path_.c_str());
}

std::string SharedFile::read() const { return read_file(file_, path_); }

void SharedFile::write(std::string_view text) {
  write_file(path_, text);
  empty_ = false;
}

}  // namespace tune::platform
