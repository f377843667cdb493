#include "config/device_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/fields.h"
#include "model/values/value.h"

namespace tune::config {
namespace {

std::string text_at(const Fields& fields, std::string_view key) {
  const Node* node = fields.require(key);
  return node != nullptr ? read_text(*node, key, fields.problems()).value_or("") : "";
}

bool is_number(const Value& value) {
  return !std::holds_alternative<std::string>(value) && !std::holds_alternative<Pair>(value);
}

/// All that a probe tells is, but for the name.
bool is_number_of_a_device(std::string_view property) {
  return property != "name" &&
         std::ranges::any_of(std::array{Backend::cuda, Backend::hip, Backend::cpu, Backend::program}, [&](Backend b) {
           return std::ranges::find(device_names(b), property) != device_names(b).end();
         });
}

}  // namespace

std::map<std::string, Value> read_properties(const Node& node, std::string_view what, Problems& problems) {
  std::map<std::string, Value> properties;
  if (!node.is_mapping()) problems.add(node.place, fmt::format("{} must be a mapping, not {}", what, describe(node)));
  for (const Entry& entry : node.entries) {
    if (const auto text = read_text(entry.value, entry.key.text, problems)) {
      const Value& value = properties[entry.key.text] = entry.value.quoted ? Value(*text) : parse_value(*text);
      if (is_number_of_a_device(entry.key.text) && !is_number(value))
        problems.add(entry.value.place,
                     fmt::format("{} in {} must be a number, not {}", entry.key.text, what, describe(entry.value)));
    }
  }
  return properties;
}

Device read_device(const std::filesystem::path& path) {
  Problems problems;
  const Node root = read_yaml(path, problems);
  Fields fields(root, "the device file", {"name", "driver", "arch", "properties"}, problems);
  Device device;
  device.name = text_at(fields, "name");
  device.driver = text_at(fields, "driver");
  device.arch = text_at(fields, "arch");
  if (const Node* node = fields.find("properties")) device.properties = read_properties(*node, "properties", problems);
  problems.throw_if_any();
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
