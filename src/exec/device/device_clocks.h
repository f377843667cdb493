#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/device/clock_keeper.h"
#include "exec/process/run_observer.h"
#include "model/plan.h"

namespace tune::exec {

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
