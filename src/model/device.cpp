#include "model/device.h"

#include "model/values/text.h"

namespace tune {

std::optional<PowerState> parse_power_state(std::string_view text) {
  return enumerator<PowerState>(kPowerStates, text);
}

std::optional<std::int64_t> Device::integer(const std::string& property) const {
  const auto found = properties.find(property);
  const auto* value = found == properties.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

}  // namespace tune
