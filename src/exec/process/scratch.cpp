#include "exec/process/scratch.h"

#include <unistd.h>

#include <string>

#include "model/values/error.h"

namespace tune::exec {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPrefix = "tune-scratch-";

bool has_room(const fs::path& folder, std::uint64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  return !error && space.available > bytes;
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

// The path is absolute because compilers run in other folders than ours.
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
  platform::LockedFolder::remove_abandoned(parent, kPrefix);
  folder_ = platform::LockedFolder(parent, kPrefix, "; point TMPDIR elsewhere");
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_.path(), ignored);
}

}  // namespace tune::exec
