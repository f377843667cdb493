#include "platform/files/path_trust.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>

#include "model/values/error.h"

namespace tune::platform {
namespace fs = std::filesystem;
namespace {

std::string name_of(uid_t user) {
  const passwd* known = ::getpwuid(user);
  return (known != nullptr ? std::string(known->pw_name) + ", " : "") + "uid " + std::to_string(user);
}

// Many systems give each user a group of their own, and let it write to everything that the user makes.
bool is_own_group(gid_t group) {
  const passwd* user = ::getpwuid(::geteuid());
  const std::string name = user != nullptr && user->pw_gid == group ? user->pw_name : "";
  const ::group* known = ::getgrgid(group);
  return !name.empty() && known != nullptr && name == known->gr_name && *known->gr_mem == nullptr;
}

/// In a user namespace, all users that it does not map look like this one, root among them. nullopt if all are mapped.
std::optional<uid_t> unmapped_user() {
  std::uint64_t inside = 0, outside = 0, count = 0;
  constexpr std::uint64_t kAll = 4294967295;
  std::ifstream map("/proc/self/uid_map"), overflow("/proc/sys/kernel/overflowuid");
  uid_t user = 0;
  if (!(map >> inside >> outside >> count) || count == kAll || !(overflow >> user)) return std::nullopt;
  return user;
}

}  // namespace

fs::path Trust::walk_to(const fs::path& folder) {
  std::error_code error;
  const fs::path path = fs::canonical(folder, error);
  fs::path at;
  for (const fs::path& part : path) {
    at /= part;
    struct stat status {};
    if (::lstat(at.c_str(), &status) != 0) error.assign(errno, std::generic_category());
    if (!error) step_to(at, status);
  }
  if (error) throw Error(ExitCode::environment, folder.string() + ": " + error.message() + advice_);
  return path;
}

void Trust::step_to(const fs::path& path, const struct stat& status) {
  std::string why;
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  // The unmapped user is taken for root, except for folders that lie where every user can make some.
  const bool roots = status.st_uid == 0 ||
                     (S_ISDIR(status.st_mode) && !anyones_ && std::optional<uid_t>(status.st_uid) == unmapped_user());
  if (status.st_uid != ::geteuid() && !roots)
    why = "belongs to another user (" + name_of(status.st_uid) + ")";
  else if (!sticky && !unreachable_ && (status.st_mode & S_IWOTH) != 0)
    why = "can be written by every user";
  else if (!sticky && !unreachable_ && (status.st_mode & S_IWGRP) != 0 && !is_own_group(status.st_gid))
    why = "can be written by its group";
  if (!why.empty()) throw Error(ExitCode::environment, path.string() + " " + why + advice_);
  anyones_ = anyones_ || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  unreachable_ = unreachable_ || (S_ISDIR(status.st_mode) && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0);
}

}  // namespace tune::platform
