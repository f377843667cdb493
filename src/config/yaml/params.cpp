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

/// What the mappings declare of this name.
std::vector<const Parameter*> declared(const std::vector<ParameterMapping>& mappings, const std::string& name) {
  std::vector<const Parameter*> all;
  for (const ParameterMapping& mapping : mappings)
    if (const Parameter* parameter = find_parameter(mapping.parameters, name)) all.push_back(parameter);
  return all;
}

}  // namespace

std::string bare_name(const std::string& key) { return key.substr(key.starts_with('$') ? 1 : 0); }

Entry* find_entry(Node& mapping, const std::string& name) {
  const auto found = std::ranges::find_if(
      mapping.entries, [&](const Entry& entry) { return entry.key.text == name || entry.key.text == "$" + name; });
  return found == mapping.entries.end() ? nullptr : &*found;
}

const Entry* find_entry(const Node& mapping, const std::string& name) {
  return find_entry(const_cast<Node&>(mapping), name);
}

std::optional<Parameter> read_parameter(const Node& key, const Node& value, Arithmetic arithmetic,
                                        Diagnostics& diagnostics) {
  Parameter parameter;
  parameter.run_time = key.text.starts_with('$');
  parameter.name = bare_name(key.text);
  if (!is_placeholder_name(parameter.name)) {
    complain_of_name(key, diagnostics);
    return {};
  }
  read_values(value, arithmetic, parameter, diagnostics);
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
    const auto all = declared(mappings, bare_name(entry.key.text));
    const bool pair = !all.empty() && has_pairs(*all.front()) && is_scalar_pair(entry.value);
    const bool as_written = std::ranges::any_of(all, [&](const Parameter* each) {
      return std::ranges::find(each->values, Value(entry.value.text)) != each->values.end();
    });
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
