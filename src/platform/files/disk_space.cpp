#include "platform/files/disk_space.h"

#include <sys/statvfs.h>
#include <unistd.h>

namespace tune::platform {
namespace {

constexpr std::uintmax_t kSmall = 64 * 1024;

}  // namespace

// Some file systems count neither blocks nor files.
bool is_full(const std::filesystem::path& folder) {
  struct statvfs system {};
  if (::statvfs(folder.c_str(), &system) != 0) return false;
  const bool privileged = ::geteuid() == 0;
  const std::uintmax_t blocks = privileged ? system.f_bfree : system.f_bavail;
  const std::uintmax_t files = privileged ? system.f_ffree : system.f_favail;
  return (system.f_blocks > 0 && blocks * system.f_frsize < kSmall) || (system.f_files > 0 && files == 0);
}

}  // namespace tune::platform
