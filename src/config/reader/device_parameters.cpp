#include "config/reader/device_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "config/yaml/fields.h"
#include "model/device_setting.h"

namespace tune::config {
namespace {

constexpr std::int64_t kMostMhzOrWatts = 1'000'000;

/// What is wrong with it, or empty.
std::string fault_of_device_parameter(const Parameter& parameter, std::optional<Backend> backend) {
  const auto control = device_control(parameter.name);
  if (!control) return fmt::format("is nothing that can be set on a device; there are {}", device_control_names());
  const bool of_program = backend && is_program(*backend);
  if (of_program && *control == DeviceControl::cpu_clock)
    return fmt::format(
        "would set the CPU clock, and no sample of a program shows which clock it ran at; rename it if the program "
        "sets its clocks itself");
  if (of_program)
    return fmt::format(
        "would set the {} of a GPU, and which one a program uses is not known; rename it if the program sets its "
        "clocks itself",
        to_text(*control));
  if (backend && !has_control(*backend, *control))
    return fmt::format("sets the {} of a {}, and this kernel runs on the {} backend; {}", to_text(*control),
                       is_gpu(*backend) ? "CPU" : "GPU", to_text(*backend),
                       *control == DeviceControl::sm_clock    ? "use device.cpu_clock"
                       : *control == DeviceControl::cpu_clock ? "use device.sm_clock"
                                                              : "remove it");
  const bool fits = std::ranges::all_of(parameter.values, [](const Value& value) {
    const auto* number = std::get_if<std::int64_t>(&value);
    return number != nullptr && *number > 0 && *number < kMostMhzOrWatts;
  });
  return fits ? "" : fmt::format("must have whole numbers of {}, above 0", unit_of(*control));
}

const Place& place_of(const Node& params, const ParameterMapping& mapping, const std::string& name) {
  for (const Node* node : as_list(params)) {
    if (node->place.line != mapping.place.line) continue;
    for (const Entry& entry : node->entries)
      if (entry.key.text == name || entry.key.text == "$" + name) return entry.key.place;
  }
  return mapping.place;
}

}  // namespace

void check_device_parameters(const Node& params, std::optional<Backend> backend,
                             std::vector<ParameterMapping>& mappings, Diagnostics& diagnostics) {
  for (ParameterMapping& mapping : mappings) {
    std::set<DeviceControl> seen;
    for (Parameter& parameter : mapping.parameters) {
      if (!is_of_a_device(parameter.name)) continue;
      parameter.run_time = true;
      std::string fault = fault_of_device_parameter(parameter, backend);
      const auto control = device_control(parameter.name);
      if (fault.empty() && !seen.insert(*control).second)
        fault = fmt::format("sets the {}, as another parameter does; keep one", to_text(*control));
      if (!fault.empty())
        diagnostics.add(place_of(params, mapping, parameter.name),
                        fmt::format("parameter '{}' {}", parameter.name, fault));
    }
  }
}

}  // namespace tune::config
