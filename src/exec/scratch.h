#pragma once
#include <cstdint>
#include <filesystem>

namespace tune {

/// A private folder for large files that live as long as this run: in /dev/shm where it is large enough, else in
/// TMPDIR. It is removed with the object; folders of runs that were killed are removed by the next run.
class Scratch {
 public:
  /// Throws Error(environment) if no folder can be made with `bytes` free.
  explicit Scratch(std::uint64_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  int lock_ = -1;  ///< held as long as the folder is in use
};

}  // namespace tune
