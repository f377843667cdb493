#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/device_setting.h"
#include "platform/files/descriptor.h"
#include "platform/process/descendants.h"
#include "wire/device_clocks.h"

namespace tune::exec {

/// The process that sets the clocks of one device for this run (`tune-device-clocks`). It undoes all when this object
/// ends, and also when this process is killed: it outlives us for that, and sees our end by the end of its input.
class ClockKeeper {
 public:
  /// `words`: its command line. What it says first is `first()`. Throws Error(environment) if it does not start.
  explicit ClockKeeper(const std::vector<std::string>& words);
  /// Waits until the device is as it was.
  ~ClockKeeper();
  ClockKeeper(const ClockKeeper&) = delete;
  ClockKeeper& operator=(const ClockKeeper&) = delete;

  const wire::ClockAnswer& first() const { return first_; }
  /// Whether it is gone, or does not answer any more.
  bool has_ended() const { return !to_; }
  /// Sets the device, unless it is set so already; nullopt: done.
  std::optional<wire::Refused> set(const DeviceSettings& settings);

 private:
  wire::ClockAnswer answer();
  wire::Refused give_up(const std::string& why);

  platform::Descriptor to_, from_;
  pid_t process_ = 0;
  platform::StartedChild child_;
  std::string unread_;
  wire::ClockAnswer first_;
  DeviceSettings now_;
};

}  // namespace tune::exec
