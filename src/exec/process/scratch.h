#pragma once
#include <cstdint>
#include <filesystem>

#include "platform/files/locked_folder.h"

namespace tune::exec {

/// A private folder for files that live as long as this run. It is removed with the object; folders of runs that were
/// killed are removed by the next run.
class Scratch {
 public:
  /// In TMPDIR. Throws Error(environment) if no folder can be made there.
  Scratch();
  /// For large files: in /dev/shm where it has `bytes` free, else in TMPDIR. Throws Error(environment) if neither has.
  explicit Scratch(std::uint64_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  explicit Scratch(const std::filesystem::path& parent);

  platform::LockedFolder folder_;
};

}  // namespace tune::exec
