#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "platform/files/descriptor.h"

namespace tune::platform {

/// A lock file that also records what to undo. It is locked for as long as the process lives; one that nobody holds was
/// left by a process that was killed before it had undone it. Only files of this user or of root are believed, because
/// anyone could write one into a folder that all users share.
class OwnedLockFile {
 public:
  enum class State { none, held, left };

  /// Whether there is such a file, and whether a process holds it.
  static State state_of(const std::filesystem::path& path);
  /// What stands in the file; empty if it cannot be read.
  static std::string text_of(const std::filesystem::path& path);

  /// Claims it; nullopt: another process holds it, which `holder` then names if it can be read. Throws
  /// Error(environment) if it cannot be made, or is not to be believed.
  static std::optional<OwnedLockFile> claim(const std::filesystem::path& path, std::string& holder);

  /// What the process before left in it; empty: it was not there.
  const std::string& left() const { return left_; }
  /// Replaces the text, and has it reach the disk. Throws Error(environment).
  void write(std::string_view text) const;
  /// It is undone, or never began: nobody finds the file any more.
  void remove();

 private:
  OwnedLockFile(std::filesystem::path path, Descriptor file, std::string left)
      : path_(std::move(path)), file_(std::move(file)), left_(std::move(left)) {}

  std::filesystem::path path_;
  Descriptor file_;
  std::string left_;
};

}  // namespace tune::platform
