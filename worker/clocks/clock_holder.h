#pragma once
#include <array>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>

#include "clocks/clock_control.h"
#include "platform/files/owned_lock_file.h"

namespace tune::worker {

/// Which controls of a device may be set.
using Touched = std::array<bool, kDeviceControls.size()>;

/// A device whose clocks this process alone sets, and which is as before once the object ends. What is to be undone
/// stands in a file before anything is set, so that the next one can do it if this process is killed.
class ClockHolder {
 public:
  /// Undoes first what a killed process left. Throws ClockRefusal, and Error(environment) of the file.
  ClockHolder(std::unique_ptr<ClockControl> control, const std::filesystem::path& file);
  ~ClockHolder();
  ClockHolder(const ClockHolder&) = delete;
  ClockHolder& operator=(const ClockHolder&) = delete;

  const wire::SettableClocks& settable() const { return settable_; }
  /// Sets what differs from before; 0 undoes. Throws ClockRefusal, and Error(environment) of the file; what was set
  /// before stays.
  void apply(const DeviceSettings& settings);

 private:
  void note(DeviceControl control);
  void set(DeviceControl control, std::int64_t value);

  std::unique_ptr<ClockControl> control_;
  std::optional<platform::OwnedLockFile> claim_;
  ClockControl::Saved saved_;
  wire::SettableClocks settable_;
  DeviceSettings now_;
  Touched touched_ = {};
};

/// Says what can be set, then obeys line by line until the input ends.
void serve_clocks(ClockHolder& holder, std::istream& in, std::ostream& out);

}  // namespace tune::worker
