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

// The folder itself is locked: a file in it would not be there yet for a run that is killed in between.
Descriptor open_folder(const fs::path& folder) {
  return Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// A folder whose lock can be taken belongs to a run that is gone.
void remove_abandoned(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const Descriptor lock = open_folder(entry.path());
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
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

// Absolute: compilers run in other folders than ours.
fs::path temporary_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (!error) return fs::absolute(folder);
  throw Error(ExitCode::environment, "no folder for temporary files: " + error.message() + "; set TMPDIR to one");
}

}  // namespace

Scratch::Scratch() : Scratch(temporary_folder()) {}
Scratch::Scratch(std::uint64_t bytes) : Scratch(choose_parent(bytes)) {}

Scratch::Scratch(const fs::path& parent) {
  remove_abandoned(parent);
  do {
    std::string name = (parent / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(ExitCode::environment,
                  "cannot create " + name + ": " + std::strerror(errno) + "; point TMPDIR elsewhere");
    folder_ = name;
    lock_ = open_folder(folder_);
    ::flock(lock_.get(), LOCK_EX);
    // Before we held it, another run may have taken it for abandoned.
  } while (!fs::exists(folder_));
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace tune
