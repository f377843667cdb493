#include "flow/user_folders.h"

#include <fmt/chrono.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tune::flow {
namespace fs = std::filesystem;
namespace {

fs::path home() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return home;
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr && *user->pw_dir == '/' ? user->pw_dir : "";
}

fs::path from_environment(const char* variable, const char* otherwise) {
  const char* folder = std::getenv(variable);
  if (folder != nullptr && *folder == '/') return fs::path(folder) / "tune";
  const fs::path base = home();
  return base.empty() ? base : base / otherwise / "tune";
}

}  // namespace

fs::path folder_of_executable() { return fs::read_symlink("/proc/self/exe").parent_path(); }
fs::path state_folder() { return from_environment("XDG_STATE_HOME", ".local/state"); }
fs::path cache_folder() { return from_environment("XDG_CACHE_HOME", ".cache"); }

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

}  // namespace tune::flow
