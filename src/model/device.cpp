#include "model/device.h"

#include <array>

namespace tune {

std::string_view to_text(Backend backend) {
  switch (backend) {
    case Backend::automatic:
      return "auto";
    case Backend::cuda:
      return "cuda";
    case Backend::hip:
      return "hip";
    case Backend::cpu:
      return "cpu";
    case Backend::program:
      return "program";
  }
  return "";
}

std::string_view to_text(PowerState state) { return state == PowerState::burst ? "burst" : "sustained"; }

std::optional<PowerState> parse_power_state(std::string_view text) {
  for (const PowerState state : {PowerState::burst, PowerState::sustained})
    if (text == to_text(state)) return state;
  return std::nullopt;
}

std::optional<std::int64_t> Device::integer(const std::string& property) const {
  const auto found = properties.find(property);
  const auto* value = found == properties.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::span<const std::string_view> device_names(Backend backend) {
  static constexpr std::array<std::string_view, 9> kCpu = {"cores",        "energy_counter", "idle_power_w",
                                                           "l1d_bytes",    "l2_bytes",       "l3_bytes",
                                                           "memory_bytes", "name",           "simd_bits"};
  static constexpr std::array<std::string_view, 17> kGpu = {"clock_hz",
                                                            "compute_capability",
                                                            "cooperative_launch",
                                                            "energy_counter",
                                                            "idle_power_w",
                                                            "l2_bytes",
                                                            "max_blocks_per_multiprocessor",
                                                            "max_registers_per_block",
                                                            "max_shared_per_block",
                                                            "max_shared_per_multiprocessor",
                                                            "max_threads_per_block",
                                                            "max_threads_per_multiprocessor",
                                                            "memory_bandwidth",
                                                            "memory_bytes",
                                                            "multiprocessors",
                                                            "name",
                                                            "warp_size"};
  static constexpr std::array<std::string_view, 3> kProgram = {"cores", "memory_bytes", "name"};
  switch (backend) {
    case Backend::automatic:
      return {};
    case Backend::cuda:
    case Backend::hip:
      return kGpu;
    case Backend::cpu:
      return kCpu;
    case Backend::program:
      return kProgram;
  }
  return {};
}

}  // namespace tune
