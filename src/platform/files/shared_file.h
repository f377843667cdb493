#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "platform/files/descriptor.h"

namespace tune::platform {

/// A file that several processes read, change and write as a whole: while one has it, the others wait, so that none
/// loses what another wrote. On a file system without locks nobody waits.
class SharedFile {
 public:
  /// Waits for the other processes. A file that does not exist is created, where links lead to, and is gone again if
  /// nothing is written. Throws Error(environment) if it cannot be opened for writing.
  explicit SharedFile(const std::filesystem::path& path);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// Throws Error(bad_input).
  std::string read() const;
  /// Replaces the file by this text, as a whole or not at all. Throws Error(environment).
  void write(std::string_view text);

 private:
  std::filesystem::path path_;
  Descriptor file_;
  bool empty_ = false;  ///< it is empty, and nothing was written
};

}  // namespace tune::platform
