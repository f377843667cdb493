#include "model/device.h"

namespace tune {

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

}  // namespace tune
