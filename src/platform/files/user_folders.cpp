#include "platform/files/user_folders.h"

#include <fmt/chrono.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

fs::path home_of_user() {
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr && *user->pw_dir == '/' ? user->pw_dir : "";
}

fs::path home() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return home;
  return home_of_user();
}

/// Whether this is root, and the folder, or the one above it that is there, is not root's.
bool is_anothers(fs::path folder) {
  struct stat status {};
  while (::stat(folder.c_str(), &status) != 0 && folder.has_relative_path()) folder = folder.parent_path();
  return ::geteuid() == 0 && status.st_uid != 0;
}

struct UserFolder {
  const char* variable;
  const char* otherwise;  ///< below the home
};
constexpr UserFolder kState{"XDG_STATE_HOME", ".local/state"}, kCache{"XDG_CACHE_HOME", ".cache"};

fs::path from_environment(const UserFolder& which) {
  const char* folder = std::getenv(which.variable);
  if (folder != nullptr && *folder == '/') return fs::path(folder) / "tune";
  const fs::path base = home();
  return base.empty() ? base : base / which.otherwise / "tune";
}

fs::path chosen(const UserFolder& which) {
  const fs::path asked = from_environment(which), base = home_of_user();
  if (asked.empty() || !is_anothers(asked)) return asked;
  return base.empty() || is_anothers(base) ? fs::path() : base / which.otherwise / "tune";
}

}  // namespace

fs::path folder_of_executable() { return fs::read_symlink("/proc/self/exe").parent_path(); }
fs::path state_folder() { return chosen(kState); }
fs::path cache_folder() { return chosen(kCache); }

std::string folders_used_instead() {
  std::string text;
  for (const UserFolder& which : {kState, kCache}) {
    const fs::path asked = from_environment(which), used = chosen(which);
    if (asked != used)
      text += fmt::format("{}{} is another user's, and root's files would be in the way there: {} is used instead",
                          text.empty() ? "" : "; ", asked.string(), used.empty() ? "none" : used.string());
  }
  return text;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

std::string timestamp() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now - seconds).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06}+00:00", fmt::gmtime(static_cast<std::time_t>(seconds.count())),
                     micros);
}

std::string utc_minute() { return timestamp().substr(0, 16) + " UTC"; }

}  // namespace tune::platform
