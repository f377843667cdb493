#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/process/run_observer.h"
#include "model/device_setting.h"
#include "model/plan.h"
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

/// One device as messages name it, and how its clocks are reached.
struct ClockedDevice {
  std::filesystem::path program;  ///< tune-device-clocks
  std::filesystem::path file;     ///< that says what is to be undone
  Backend backend = Backend::cuda;
  std::string id, name;
};

/// The clocks and the power limit of one device, where the parameters of a plan set them. Nothing is touched for other
/// plans, except that what a killed run left is undone.
class DeviceClocks {
 public:
  /// `plan` must outlive this.
  DeviceClocks(ClockedDevice device, const Plan& plan, RunObserver& observer);

  /// Whether there is anything to claim: the parameters set something, or a killed run has left something to undo.
  bool are_needed() const;
  /// Whether this run has to wait for another one that sets the clocks of this device.
  bool are_held();
  /// Makes sure, before anything is measured, that the device has all that the parameters ask for, and that this run
  /// may set it. To be called in this run's turn, because that is tried. False: another run sets the clocks; ask again.
  /// Throws Error(bad_input) for what the device does not have, Error(environment) for what is not permitted.
  bool claim();
  /// Sets the device for what is launched next.
  std::optional<wire::Refused> set(const DeviceSettings& settings);
  /// The device is as it was before this run.
  void reset() { set({}); }

 private:
  std::unique_ptr<ClockKeeper> start() const;
  void restore_left();
  void require_values(const wire::SettableClocks& settable) const;
  void try_out();
  [[noreturn]] void complain(const std::string& why) const;

  ClockedDevice device_;
  const Plan* plan_;
  RunObserver* observer_;
  std::unique_ptr<ClockKeeper> keeper_;
  bool told_ = false;
};

/// Why a measurement is not of these clocks: its samples show others, or none. nullopt if they show these, within 1 %
/// or 8 MHz. Power tells nothing of its limit: the gauges lag behind.
std::optional<std::string> contradiction(const DeviceSettings& settings, const std::map<std::string, double>& metrics);

}  // namespace tune::exec
