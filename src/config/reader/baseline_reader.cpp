#include <fmt/format.h>

#include <algorithm>

#include "config/reader/file_reader.h"
#include "config/reader/sections.h"
#include "config/yaml/fields.h"
#include "model/values/error.h"

namespace tune::config {
namespace {

/// The mapping that a point most probably belongs to: the one with the fewest names missing and unknown.
const ParameterMapping& closest(const std::vector<ParameterMapping>& mappings, const std::vector<Setting>& settings) {
  const auto distance = [&](const ParameterMapping& mapping) {
    const auto common = std::ranges::count_if(
        settings, [&](const Setting& setting) { return find_parameter(mapping.parameters, setting.name) != nullptr; });
    return static_cast<std::ptrdiff_t>(mapping.parameters.size() + settings.size()) - 2 * common;
  };
  return *std::ranges::min_element(mappings, {}, distance);
}

void complain_of_unknown(const Place& place, const std::string& name, std::string_view what,
                         const std::vector<std::string>& known, Diagnostics& diagnostics) {
  diagnostics.add(place, fmt::format("unknown parameter '{}' in {}{}", name, what, did_you_mean(name, known)));
}

std::vector<std::string> names_of(const std::vector<ParameterMapping>& mappings) {
  std::vector<std::string> names;
  for (const ParameterMapping& mapping : mappings) {
    for (const Parameter& parameter : mapping.parameters) names.push_back(parameter.name);
  }
  return names;
}

/// The only mapping of a best.yaml's params; null if there is not exactly one, which is reported.
const Node* find_params(const Node& root, Diagnostics& diagnostics) {
  const Node* params = root.find("params");
  if (params != nullptr && params->is_list() && params->items.size() == 1) params = &params->items[0];
  if (params != nullptr && params->is_mapping()) return params;
  diagnostics.add(root.place, "a baseline's file needs params, a mapping of one value per parameter");
  return nullptr;
}

/// Labels tell baselines apart, so an equal one is numbered.
std::string unique_label(const std::vector<Baseline>& baselines, const std::string& label) {
  std::string unique = label;
  const auto taken = [&](const Baseline& other) { return other.label == unique; };
  for (int number = 2; std::ranges::any_of(baselines, taken); ++number) unique = fmt::format("{} {}", label, number);
  return unique;
}

}  // namespace

std::vector<Baseline> read_baselines(const Node& node, const std::filesystem::path& folder,
                                     const std::vector<ParameterMapping>& mappings, bool has_vendor,
                                     Diagnostics& diagnostics) {
  std::vector<Baseline> baselines;
  const auto add = [&](const std::string& label, const Node& params, const std::string& what) {
    baselines.push_back(
        {Baseline::Kind::params, unique_label(baselines, label), read_point(params, what, mappings, diagnostics)});
  };
  for (const Node* item : as_list(node)) {
    if (item->is_mapping()) {
      add("baseline", *item, "baseline");
    } else if (!item->is_scalar()) {
      diagnostics.add(item->place, fmt::format("a baseline must be vendor, a mapping of parameters or the path of a "
                                               "best.yaml, not {}",
                                               describe(*item)));
    } else if (item->text == "vendor") {
      if (!has_vendor) diagnostics.add(item->place, "baseline vendor needs kernel mode and problem: {gemm: ...}");
      baselines.push_back({Baseline::Kind::vendor, unique_label(baselines, "vendor"), {}});
    } else {
      const std::filesystem::path path = resolve(*item, folder, diagnostics);
      Node root;
      try {
        root = read_yaml(path, diagnostics);
      } catch (const Error& error) {
        diagnostics.add(item->place, fmt::format("baseline '{}': {}", item->text, error.what()));
        continue;
      }
      const Node* params = find_params(root, diagnostics);
      if (params == nullptr) continue;
      add(path.filename().string(), *params, fmt::format("baseline {}", item->text));
      baselines.back().file = path;
    }
  }
  return baselines;
}

std::vector<Setting> read_point(const Node& node, std::string_view what, const std::vector<ParameterMapping>& mappings,
                                Diagnostics& diagnostics) {
  const std::vector<Setting> given = read_settings(node, what, mappings, diagnostics);
  if (mappings.empty() || !node.is_mapping()) return {};
  const ParameterMapping& mapping = closest(mappings, given);
  std::vector<Setting> point;
  for (const Parameter& parameter : mapping.parameters) {
    const auto setting = std::ranges::find(given, parameter.name, &Setting::name);
    if (setting != given.end()) {
      point.push_back({parameter.name, setting->value, parameter.run_time});
    } else if (find_entry(node, parameter.name) == nullptr) {
      diagnostics.add(node.place, fmt::format("{} lacks parameter '{}'; give every parameter", what, parameter.name));
    }
  }
  for (const Setting& setting : given) {
    if (find_parameter(mapping.parameters, setting.name) == nullptr) {
      complain_of_unknown(node.place, setting.name, what, names_of({mapping}), diagnostics);
    }
  }
  return point;
}

std::vector<Setting> read_default(const Node& node, const std::vector<ParameterMapping>& mappings,
                                  Diagnostics& diagnostics) {
  std::vector<Setting> settings = read_settings(node, "default", mappings, diagnostics);
  for (Setting& setting : settings) {
    const auto declares = [&](const ParameterMapping& mapping) {
      return find_parameter(mapping.parameters, setting.name) != nullptr;
    };
    const auto mapping = std::ranges::find_if(mappings, declares);
    if (mapping != mappings.end()) {
      setting.run_time = find_parameter(mapping->parameters, setting.name)->run_time;
    } else {
      complain_of_unknown(node.place, setting.name, "default", names_of(mappings), diagnostics);
    }
  }
  return settings;
}

std::string place_of_default(const Node& node, const Node& params) {
  for (const Node* mapping : as_list(params))
    for (const Entry& entry : node.entries)
      if (const Entry* values = find_entry(*mapping, entry.key.text);
          values != nullptr && values->value.place.line == 0)
        return "";
  return to_text(node.place);
}

}  // namespace tune::config
