#pragma once
#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace tune::platform {

/// Checks whether other users could change or replace a file. Every folder from the root to the file must belong to
/// this user or root, and nobody else may write to it. There are three exceptions: sticky folders such as /tmp, where
/// nobody can rename files of other users; groups whose only member is this user; and everything inside a folder that
/// others cannot enter. In a user namespace without root, folders of users that it does not map are taken for root's.
class Trust {
 public:
  /// `advice` ends the text of every error.
  explicit Trust(std::string advice) : advice_(std::move(advice)) {}

  /// Goes from the root to a folder and returns its path without links. Throws Error(environment).
  std::filesystem::path walk_to(const std::filesystem::path& folder);
  /// Checks an entry of the folder that was reached last; it must not be a link. Throws Error(environment).
  void step_to(const std::filesystem::path& path, const struct stat& status);

 private:
  std::string advice_;
  bool unreachable_ = false;  ///< others cannot enter a folder above
  bool anyones_ = false;      ///< other users may have made what lies here
};

}  // namespace tune::platform
