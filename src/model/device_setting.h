#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/device.h"
#include "model/space.h"

/// What a run can set on a GPU or a CPU: its clocks, and the power that it is held to. They are parameters of a tuning
/// file like others, with names of their own, and are not part of the build.
namespace tune {

enum class DeviceControl { sm_clock, memory_clock, power_limit, cpu_clock };
inline constexpr std::array kDeviceControls = {DeviceControl::sm_clock, DeviceControl::memory_clock,
                                               DeviceControl::power_limit, DeviceControl::cpu_clock};

/// What a parameter of this name sets: `device.sm_clock`, or Kernel Tuner's `nvml_gr_clock`; nullopt: nothing.
std::optional<DeviceControl> device_control(std::string_view parameter);
/// Whether a device of this backend has such a control.
bool has_control(Backend backend, DeviceControl control);
/// Whether it is a name as the above, known or not: `device.*`, `nvml_*`.
bool is_of_a_device(std::string_view parameter);
/// `device.sm_clock, device.mem_clock, device.power_limit, device.cpu_clock`.
std::string device_control_names();
/// `SM clock`, `MHz`.
std::string_view to_text(DeviceControl control);
std::string_view unit_of(DeviceControl control);

/// What a device is set to, in MHz and W; 0: what it is without us.
struct DeviceSettings {
  std::array<std::int64_t, kDeviceControls.size()> values = {};

  std::int64_t of(DeviceControl control) const { return values[static_cast<std::size_t>(control)]; }
  bool any() const { return *this != DeviceSettings(); }
  bool operator==(const DeviceSettings&) const = default;
};

/// What a spec's parameters say.
DeviceSettings device_settings(const Spec& spec);
/// Whether any parameter of the space sets something.
bool sets_device(const Space& space);

}  // namespace tune
