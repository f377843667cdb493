#pragma once
#include <filesystem>
#include <string>

#include "base/descriptor.h"

namespace tune {

/// A device's turn among all `tune` processes of a machine: who has it may launch. Those that want it take turns: the
/// one that waits next keeps the others from taking it again before. A device without an id can always be taken,
/// and so can all where files have no locks.
class DeviceLock {
 public:
  /// The lock is a file of this folder, which all users share.
  DeviceLock(const std::filesystem::path& folder, const std::string& device_id);

  /// Takes it if it is free; else waits for it from now on, and is to be asked again.
  bool take();
  /// Gives it back, or waits no longer.
  void release();
  /// Who took it last: `tune, pid 123`.
  std::string holder() const;

 private:
  Descriptor file_;
  bool next_ = false;  ///< no other process can be the next
  bool taken_ = false;
};

}  // namespace tune
