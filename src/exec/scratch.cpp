#include "exec/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPrefix = "tune-scratch-";

bool has_room(const fs::path& folder, std::uint64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  return !error && space.available > bytes;
}

// A folder whose lock can be taken belongs to a run that is gone.
void remove_abandoned(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const int lock = ::open((entry.path() / "lock").c_str(), O_RDWR | O_CLOEXEC);
    if (lock < 0) continue;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

fs::path choose_parent(std::uint64_t bytes) {
  const fs::path memory = "/dev/shm";
  if (::access(memory.c_str(), W_OK) == 0 && has_room(memory, bytes)) return memory;
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (!error && has_room(temporary, bytes)) return temporary;
  throw Error(ExitCode::environment, "no room for a reference result of " + std::to_string(bytes >> 20) +
                                         " MiB in /dev/shm or TMPDIR: free some, or point TMPDIR elsewhere");
}

}  // namespace

Scratch::Scratch(std::uint64_t bytes) {
  const fs::path parent = choose_parent(bytes);
  remove_abandoned(parent);
  std::string name = (parent / (std::string(kPrefix) + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::environment, "cannot create " + name + ": " + std::strerror(errno));
  folder_ = name;
  lock_ = ::open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ::flock(lock_, LOCK_EX | LOCK_NB);
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace tune
