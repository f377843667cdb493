#include "config/yaml/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/yaml/fields.h"
#include "config/yaml/values.h"
#include "model/command.h"

namespace tune::config {
namespace {

/// As `BM:[64,128]` has, which YAML takes for a text.
bool has_colon(const Node& node) { return node.is_scalar() && node.text.find(':') != std::string::npos; }

void complain_of_name(const Node& key, Diagnostics& diagnostics) {
  diagnostics.add(key.place, fmt::format("'{}' cannot be a parameter's name: use letters, digits and '_', after an "
                                         "optional '$'{}",
                                         key.text, has_colon(key) ? ", and put a blank behind the colon" : ""));
}

ParameterMapping read_mapping(const Node& node, bool in_list,
                              const std::function<std::string(const std::string&)>& taken,
                              const std::function<bool(const Parameter&)>& needs_identifier, Arithmetic arithmetic,
                              Diagnostics& diagnostics) {
  ParameterMapping mapping{node.place, {}};
  std::set<std::string> seen;
  std::size_t keys = 0;
  for (const Entry& entry : node.entries) {
    if (in_list && entry.key.text == "metadata") continue;  // kbench
    ++keys;
    std::optional<Parameter> parameter =
        read_parameter(entry.key, entry.value, in_list ? Arithmetic::all : arithmetic, diagnostics);
    if (!parameter) continue;
    const std::string owner = taken(parameter->name);
    if (needs_identifier(*parameter) && !is_identifier(parameter->name)) {
      complain_of_name(entry.key, diagnostics);
    } else if (!owner.empty()) {
      diagnostics.add(entry.key.place, fmt::format("parameter '{}' is also {}; rename it", parameter->name, owner));
    } else if (!seen.insert(parameter->name).second) {
      diagnostics.add(entry.key.place,
                      fmt::format("parameter '{0}' is declared with and without '$'; keep one", parameter->name));
    } else {
      mapping.parameters.push_back(std::move(*parameter));
    }
  }
  if (keys == 0) diagnostics.add(node.place, "params is empty; give at least one parameter, such as BM: [64, 128]");
  return mapping;
}

/// Whether there is a parameter of this name, with or without `$`, and it has nothing but pairs.
bool has_pairs(const std::vector<ParameterMapping>& mappings, std::string_view key) {
  const std::string_view name = key.substr(key.starts_with('$') ? 1 : 0);
  const auto is_pair = [](const Value& value) { return std::holds_alternative<Pair>(value); };
  for (const ParameterMapping& mapping : mappings)
    for (const Parameter& parameter : mapping.parameters)
      if (parameter.name == name) return !parameter.values.empty() && std::ranges::all_of(parameter.values, is_pair);
  return false;
}

/// Whether a text, as it is written, is a value of the parameter of this name.
bool is_value(const std::vector<ParameterMapping>& mappings, std::string_view key, const std::string& text) {
  const std::string_view name = key.substr(key.starts_with('$') ? 1 : 0);
  for (const ParameterMapping& mapping : mappings)
    for (const Parameter& parameter : mapping.parameters)
      if (parameter.name == name && std::ranges::find(parameter.values, Value(text)) != parameter.values.end())
        return true;
  return false;
}

}  // namespace

std::optional<Parameter> read_parameter(const Node& key, const Node& value, Arithmetic arithmetic,
                                        Diagnostics& diagnostics) {
  Parameter parameter;
  parameter.run_time = key.text.starts_with('$');
  parameter.name = key.text.substr(parameter.run_time ? 1 : 0);
  if (!is_placeholder_name(parameter.name)) {
    complain_of_name(key, diagnostics);
    return {};
  }
  if (std::optional<ValueSet> set = read_values(value, parameter.name, arithmetic, diagnostics)) {
    parameter.values = std::move(set->values);
    parameter.kind = set->kind;
  }
  return parameter;
}

std::vector<ParameterMapping> read_params(const Node& node, const std::function<std::string(const std::string&)>& taken,
                                          const std::function<bool(const Parameter&)>& needs_identifier,
                                          Arithmetic arithmetic, Diagnostics& diagnostics) {
  std::vector<ParameterMapping> mappings;
  const std::vector<const Node*> nodes = as_list(node);
  if (nodes.empty()) diagnostics.add(node.place, "params is empty; give at least one parameter, such as BM: [64, 128]");
  for (const Node* item : nodes) {
    if (item->is_mapping()) {
      mappings.push_back(read_mapping(*item, node.is_list(), taken, needs_identifier, arithmetic, diagnostics));
    } else {
      diagnostics.add(item->place,
                      fmt::format("params must be a mapping or a list of mappings, not {}{}", describe(*item),
                                  has_colon(*item) ? "; put a blank behind the colon" : ""));
    }
  }
  return mappings;
}

std::vector<Setting> read_settings(const Node& node, std::string_view what,
                                   const std::vector<ParameterMapping>& mappings, Diagnostics& diagnostics) {
  std::vector<Setting> settings;
  if (!node.is_mapping()) {
    diagnostics.add(node.place, fmt::format("{} must be a mapping of parameters, not {}", what, describe(node)));
  }
  for (const Entry& entry : node.entries) {
    const bool pair = has_pairs(mappings, entry.key.text) && is_scalar_pair(entry.value);
    const bool as_written = is_value(mappings, entry.key.text, entry.value.text);
    std::optional<Parameter> parameter = read_parameter(entry.key, pair ? list_of(entry.value) : entry.value,
                                                        as_written ? Arithmetic::none : Arithmetic::all, diagnostics);
    if (!parameter || parameter->values.empty()) continue;
    if (parameter->values.size() != 1) {
      diagnostics.add(entry.value.place, fmt::format("'{}' in {} has {} values; give one", parameter->name, what,
                                                     parameter->values.size()));
    } else {
      settings.push_back({parameter->name, parameter->values[0], parameter->run_time});
    }
  }
  return settings;
}

}  // namespace tune::config
