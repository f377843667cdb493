#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/backend.h"
#include "model/values/value.h"

/// Devices: the states in which one is timed, and what a probe says of it.
namespace tune {

/// The state of a device in which a kernel is timed: `burst` is at its boost clock, with pauses between launches;
/// `sustained` is under a steady load.
enum class PowerState { burst, sustained };
inline constexpr std::array<std::string_view, 2> kPowerStates = {"burst", "sustained"};
constexpr std::string_view to_text(PowerState state) { return kPowerStates[static_cast<std::size_t>(state)]; }
std::optional<PowerState> parse_power_state(std::string_view text);

/// What a worker's probe found. `properties` are the names after `device.` in expressions.
struct Device {
  std::string name;    ///< model, e.g. "NVIDIA H200"
  std::string driver;  ///< driver version; kernel release on the CPU
  std::string arch;    ///< what to build for: sm_90a, gfx90a, the CPU's model
  std::map<std::string, Value> properties;

  /// A property that is an integer; nullopt if it is none, or not told.
  std::optional<std::int64_t> integer(const std::string& property) const;
};

/// Why a device's clock is not higher: bits of the metric `throttle`, by NVML's numbers. What a user asked for
/// (application clocks, idleness) is not among them.
struct Throttle {
  static constexpr std::uint64_t power_cap = 0x4, hardware = 0x8, software_heat = 0x20, hardware_heat = 0x40,
                                 power_brake = 0x80;
  static constexpr std::uint64_t heat = software_heat | hardware_heat;
  static constexpr std::uint64_t all = power_cap | hardware | heat | power_brake;
};

}  // namespace tune
