#include "config/reader/device_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "config/yaml/fields.h"
#include "model/values/error.h"
#include "model/values/text.h"
#include "model/values/value.h"

namespace tune::config {
namespace {

bool is_numeric(const Value& value) {
  return !std::holds_alternative<std::string>(value) && !std::holds_alternative<Pair>(value);
}

/// All that a probe tells is, but for the name.
bool is_number_of_a_device(std::string_view property) {
  return property != "name" && std::ranges::any_of(backends(), [&](const BackendTraits& traits) {
           return std::ranges::count(traits.device_names, property) > 0;
         });
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::filesystem::path find_device_file(const std::filesystem::path& named, const std::filesystem::path& folder) {
  const std::string name = lower_case(named.string());
  std::error_code error;  // whoever reads the file says what it is
  if (std::filesystem::exists(named, error) || error || name.find_first_of("/.") != name.npos) return named;
  const std::vector<std::string> known = names_in(folder);
  if (std::ranges::find(known, name) != known.end()) return folder / (name + ".yaml");
  throw Error(
      ExitCode::bad_input,
      fmt::format("--device-file {0}: there is no file {0}, and no device of this name in {1}; {2}", named.string(),
                  folder.string(),
                  known.empty() ? "install it with tune" : fmt::format("known are {}", fmt::join(known, ", "))));
}

std::vector<std::string> known_devices(const std::filesystem::path& folder,
                                       const std::function<bool(const Device&)>& fits) {
  std::vector<std::string> names = names_in(folder);
  std::erase_if(names, [&](const std::string& name) { return !fits(read_device(folder / (name + ".yaml"))); });
  return names;
}

std::map<std::string, Value> read_properties(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  std::map<std::string, Value> properties;
  if (!node.is_mapping())
    diagnostics.add(node.place, fmt::format("{} must be a mapping, not {}", what, describe(node)));
  for (const Entry& entry : node.entries) {
    if (const auto text = read_text(entry.value, entry.key.text, diagnostics)) {
      const Value& value = properties[entry.key.text] = entry.value.quoted ? Value(*text) : parse_value(*text);
      if (is_number_of_a_device(entry.key.text) && !is_numeric(value))
        diagnostics.add(entry.value.place,
                        fmt::format("{} in {} must be a number, not {}", entry.key.text, what, describe(entry.value)));
    }
  }
  return properties;
}

Device read_device(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  const Node root = read_yaml(path, diagnostics);
  Fields fields(root, "the device file", {"name", "driver", "arch", "properties"}, diagnostics);
  Device device;
  for (const char* needed : {"name", "driver", "arch"}) fields.require(needed);
  device.name = fields.text("name");
  device.driver = fields.text("driver");
  device.arch = fields.text("arch");
  if (const Node* node = fields.find("properties"))
    device.properties = read_properties(*node, "properties", diagnostics);
  diagnostics.throw_if_any();
  return device;
}

std::string write_device(const Device& device) {
  std::string text = fmt::format("name: {}\ndriver: {}\narch: {}\n", to_yaml(Value(device.name)),
                                 to_yaml(Value(device.driver)), to_yaml(Value(device.arch)));
  if (!device.properties.empty()) text += "properties:\n";
  for (const auto& [name, value] : device.properties)
    text += fmt::format("  {}: {}\n", to_yaml(Value(name)), to_yaml(value));
  return text;
}

}  // namespace tune::config
