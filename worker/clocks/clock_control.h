#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "model/device_setting.h"
#include "wire/device_clocks.h"

namespace tune::worker {

/// Thrown by a ClockControl: the library, the driver or the device does not do what is asked.
struct ClockRefusal {
  wire::Refused refused;
};

/// One device whose clocks and power limit can be set: a vendor's management library, or the kernel. It is opened only
/// for a run whose parameters set something, or to undo what such a run left. All but the destructor throw
/// ClockRefusal.
class ClockControl {
 public:
  /// How the device is before anything is set, under names of the vendor's own, for a file.
  using Saved = std::map<std::string, std::int64_t>;

  virtual ~ClockControl() = default;
  virtual wire::SettableClocks settable() const = 0;
  virtual Saved saved() const = 0;
  /// Sets this one control, in MHz or W.
  virtual void set(DeviceControl control, std::int64_t value) = 0;
  /// Undoes what was set of this control.
  virtual void reset(DeviceControl control, const Saved& saved) = 0;
};

/// The control of the device with this id, as a worker's probe tells it. Throws ClockRefusal.
std::unique_ptr<ClockControl> open_nvml_control(const std::string& device_id);
std::unique_ptr<ClockControl> open_rocm_control(const std::string& device_id);
/// The control of all processors of this machine.
std::unique_ptr<ClockControl> open_cpu_control();

}  // namespace tune::worker
