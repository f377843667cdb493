#include "config/reader/device_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/reader/device_file.h"
#include "config/yaml/fields.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

const std::string kDevice = "device.";

/// The device that expressions ask; without properties where none is known but the file's defaults will do.
Device device_in_expressions(const SymbolTable& scope, const FixedValueSources& sources) try {
  if (!sources.options.probe)
    throw Error(ExitCode::environment,
                fmt::format("an expression of '{}' uses device.*, but no device is known; give --device-file",
                            sources.plan.name));
  return sources.options.probe(sources.plan.backend);
} catch (const Error&) {
  // What cannot do without the device asks for it again.
  const bool known = std::ranges::all_of(scope.used_device_slots(), [&](int slot) {
    return sources.defaults.contains(scope.names().at(slot).substr(kDevice.size()));
  });
  if (!known) throw;
  return {};
}

}  // namespace

std::vector<Value> fixed_values(const SymbolTable& scope, const Names& names, const FixedValueSources& sources) {
  std::vector<Value> values = scope.values();
  values.resize(static_cast<std::size_t>(names.size()));
  if (scope.used_device_slots().empty()) return values;
  const Device device = device_in_expressions(scope, sources);
  for (const int slot : scope.used_device_slots()) {
    const std::string& name = scope.names().at(slot);
    const std::string property = name.substr(kDevice.size());
    const auto told = device.properties.find(property), otherwise = sources.defaults.find(property);
    if (told == device.properties.end() && otherwise == sources.defaults.end())
      throw Error(ExitCode::environment, fmt::format("an expression of '{}' uses device.*, but '{}' does not tell {}",
                                                     sources.plan.name, device.name, name));
    values[static_cast<std::size_t>(slot)] = told == device.properties.end() ? otherwise->second : told->second;
  }
  return values;
}

DeviceDefaults read_device_defaults(const Node& node, Backend backend, const SymbolTable& scope,
                                    Diagnostics& diagnostics) {
  DeviceDefaults defaults = read_properties(node, "device_defaults", diagnostics);
  for (const Entry& entry : node.entries) {
    if (scope.declares(kDevice + entry.key.text)) continue;
    const auto names = traits_of(backend).device_names;
    const std::vector<std::string> known(names.begin(), names.end());
    diagnostics.add(entry.key.place, fmt::format("unknown name '{}' in device_defaults{}", entry.key.text,
                                                 did_you_mean(entry.key.text, known)));
  }
  return defaults;
}

}  // namespace tune::config
