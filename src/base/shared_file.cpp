#include "base/shared_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "model/values/error.h"

namespace tune::base {
namespace {

/// Follows a link, so that the file it leads to is replaced and not the link.
std::filesystem::path target_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

SharedFile::SharedFile(std::filesystem::path path) : path_(target_of(path)) {
  const auto fail = [&](const std::string& why) {
    throw Error(ExitCode::environment,
                "cannot write " + path.string() + ": " + why + "; fix this, or choose another place");
  };
  // Whoever waits for the lock gets that of the file that was replaced meanwhile, and tries the new one.
  do {
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

}  // namespace tune::base
