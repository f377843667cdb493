#pragma once
#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace tune::base {

/// Whether other users can change a file, found out on the way to it from the root: all folders must be this user's or
/// root's, and only they may write there. Excepted are folders such as /tmp, where nobody can rename what is another's,
/// groups that only this user is in, and what lies in a folder that others cannot enter. In a user namespace without
/// root the folders of users that it does not map are taken for root's.
class Trust {
 public:
  /// `advice` ends the text of every error.
  explicit Trust(std::string advice) : advice_(std::move(advice)) {}

  /// Goes from the root to a folder and returns its path without links. Throws Error(environment).
  std::filesystem::path walk_to(const std::filesystem::path& folder);
  /// Goes on to what lies in the folder last gone to, and is no link. Throws Error(environment).
  void step_to(const std::filesystem::path& path, const struct stat& status);

 private:
  std::string advice_;
  bool unreachable_ = false;  ///< for others
  bool anyones_ = false;      ///< other users may have made what lies here
};

}  // namespace tune::base
