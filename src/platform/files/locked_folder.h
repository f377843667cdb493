#pragma once
#include <filesystem>
#include <string>

#include "platform/files/descriptor.h"

namespace tune::platform {

/// A folder that a run makes for itself, and on which it holds a lock, so that other runs see that it is in use. What a
/// killed run leaves has no lock. It is told from folders of others by its mode, which it gets once it is locked.
class LockedFolder {
 public:
  LockedFolder() = default;
  /// Makes `parent`/`prefix`*, for this user alone. Throws Error(environment), ending in `advice`.
  LockedFolder(const std::filesystem::path& parent, const std::string& prefix, const std::string& advice);

  const std::filesystem::path& path() const { return path_; }

  /// Removes what runs of this user made with this prefix and no living process holds; and, where it has not changed
  /// for a day, what `known` says that an earlier version made, whatever its mode.
  static void remove_abandoned(const std::filesystem::path& parent, const std::string& prefix,
                               bool (*known)(const std::string& name) = nullptr);

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

}  // namespace tune::platform
