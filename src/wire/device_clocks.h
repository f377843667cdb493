#pragma once
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

/// What a device lets us choose from; an empty list: not told. Power limits are in W.
struct SettableClocks {
  std::vector<std::int64_t> sm_clocks, memory_clocks;  ///< MHz
  std::int64_t least_power = 0, most_power = 0;        ///< both 0: not told
  bool restored = false;                               ///< the device was still as a run that was killed had set it
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
