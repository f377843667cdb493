#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/device_setting.h"

/// What the driver and `tune-device-clocks`, the process that sets a device's clocks, say to each other: one line each.
/// The process first says SettableClocks, or Refused; then each line is a DeviceSettings, answered by SettingsApplied
/// or Refused.
namespace tune::wire {

/// What one control of a device can be set to, in its unit: one of a sorted list, or what lies in a range. What is
/// empty, or 0, is not told.
struct Choices {
  std::vector<std::int64_t> values;
  std::int64_t least = 0, most = 0;
};
/// What a device lets us choose from.
struct SettableClocks {
  std::array<Choices, kDeviceControls.size()> choices;
  bool restored = false;  ///< the device was still as a run that was killed had set it

  Choices& of(DeviceControl control) { return choices[static_cast<std::size_t>(control)]; }
  const Choices& of(DeviceControl control) const { return choices[static_cast<std::size_t>(control)]; }
};
struct SettingsApplied {};
struct Refused {
  enum class Why { permission, lost, in_use, other };
  Why why = Why::other;
  std::string message;
};
using ClockAnswer = std::variant<SettableClocks, SettingsApplied, Refused>;

/// One line each, without the newline.
std::string encode(const DeviceSettings& settings);
std::string encode(const ClockAnswer& answer);

/// Throw Malformed.
DeviceSettings decode_settings(std::string_view line);
ClockAnswer decode_clock_answer(std::string_view line);

/// The file, in the folder of the devices' locks, that says how a device was before a run set its clocks: locked by the
/// process that sets them, and gone once all is as it was.
std::string clock_file_name(const std::string& device_id);

}  // namespace tune::wire
