#include "model/device_setting.h"

#include <algorithm>

namespace tune {
namespace {

struct Row {
  DeviceControl control;
  std::string_view name, kernel_tuner, text, unit;
};

constexpr std::array<Row, kDeviceControls.size()> kRows = {{
    {DeviceControl::sm_clock, "device.sm_clock", "nvml_gr_clock", "SM clock", "MHz"},
    {DeviceControl::memory_clock, "device.mem_clock", "nvml_mem_clock", "memory clock", "MHz"},
    {DeviceControl::power_limit, "device.power_limit", "nvml_pwr_limit", "power limit", "W"},
    {DeviceControl::cpu_clock, "device.cpu_clock", "", "CPU clock", "MHz"},
}};

const Row& row_of(DeviceControl control) { return kRows[static_cast<std::size_t>(control)]; }

}  // namespace

std::optional<DeviceControl> device_control(std::string_view parameter) {
  const auto row =
      std::ranges::find_if(kRows, [&](const Row& r) { return parameter == r.name || parameter == r.kernel_tuner; });
  return row == kRows.end() ? std::nullopt : std::optional(row->control);
}

bool has_control(Backend backend, DeviceControl control) {
  if (is_program(backend)) return false;
  return control == DeviceControl::power_limit || (control == DeviceControl::cpu_clock) != is_gpu(backend);
}

bool is_of_a_device(std::string_view parameter) {
  return parameter.starts_with("device.") || parameter.starts_with("nvml_");
}

std::string device_control_names() {
  std::string names;
  for (const Row& row : kRows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

std::string_view to_text(DeviceControl control) { return row_of(control).text; }
std::string_view unit_of(DeviceControl control) { return row_of(control).unit; }

DeviceSettings device_settings(const Spec& spec) {
  DeviceSettings settings;
  for (const Setting& setting : spec.params)
    if (const auto control = device_control(setting.name))
      if (const auto* value = std::get_if<std::int64_t>(&setting.value))
        settings.values[static_cast<std::size_t>(*control)] = *value;
  return settings;
}

bool sets_device(const Space& space) {
  return std::ranges::any_of(space.mappings(), [](const Space::Mapping& mapping) {
    return std::ranges::any_of(mapping.parameters,
                               [](const Parameter& parameter) { return device_control(parameter.name).has_value(); });
  });
}

}  // namespace tune
