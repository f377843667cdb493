#include <fmt/format.h>

#include <algorithm>

#include "commands/database/result_tables.h"
#include "wire/json.h"

namespace tune::commands {
namespace {

using ordered_json = nlohmann::ordered_json;

ordered_json sizes_json(const database::Sizes& sizes) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, size] : sizes) json[name] = size;
  return json;
}

ordered_json tree_json(const database::SizeRule& rule, std::size_t index) {
  const database::SizeRule::Node& node = rule.tree[index];
  if (node.size.empty()) return {{"use", node.use}};
  return {{"if", node.size},
          {"most", node.most},
          {"then", tree_json(rule, node.below)},
          {"else", tree_json(rule, node.above)}};
}

ordered_json configuration_json(const database::Configuration& configuration) {
  ordered_json params = ordered_json::object();
  for (const Setting& setting : configuration.params)
    params[(setting.run_time ? "$" : "") + setting.name] = ordered_json(nlohmann::json(setting.value));
  return {{"params", params}, {"artifact", configuration.artifact_hash}, {"store_path", configuration.store_path}};
}

/// In an argument with quotes.
std::string cmake_text(const std::string& text) {
  std::string quoted;
  for (const char c : text) quoted += (c == '"' || c == '\\' || c == '$' ? "\\" : "") + std::string(1, c);
  return '"' + quoted + '"';
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted;
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return '"' + quoted + '"';
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string row;
  for (const std::string& cell : cells) row += (row.empty() ? "" : ",") + csv_cell(cell);
  return row + '\n';
}

}  // namespace

std::string to_json(const DispatchTable& table) {
  const database::ResultGroup& group = table.group;
  ordered_json json = {{"kernel", group.kernel},
                       {"backend", group.backend},
                       {"problem", group.problem},
                       {"device", group.device.name},
                       {"arch", group.device.arch},
                       {"driver", group.device.driver},
                       {"compiler", group.device.compiler},
                       {"vendor_library", group.device.vendor_library},
                       {"source", group.source}};
  json["configurations"] = json["table"] = ordered_json::array();
  for (const database::Configuration& each : table.rule.configurations)
    json["configurations"].push_back(configuration_json(each));
  for (const auto& [sizes, use] : table.rule.table)
    json["table"].push_back({{"sizes", sizes_json(sizes)}, {"use", use}});
  json["tree"] = table.rule.tree.empty() ? ordered_json() : tree_json(table.rule, 0);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string to_cmake(const DispatchTable& table) {
  const std::string prefix = "TUNED_" + identifier_of(table.group.kernel);
  std::string text =
      fmt::format("# Written by tune export; changes are lost when it is written again.\nset({}_DEVICE {})\n", prefix,
                  cmake_text(table.group.device.name));
  text += fmt::format("set({}_COUNT {})\n", prefix, table.rule.configurations.size());
  for (std::size_t use = 0; use < table.rule.configurations.size(); ++use) {
    std::string flags, arguments;
    for (const Setting& setting : table.rule.configurations[use].params) {
      if (setting.run_time)
        arguments += ' ' + cmake_text(setting.name + "=" + to_text(setting.value));
      else
        for (const Define& define : to_defines(setting.name, setting.value))
          flags += ' ' + cmake_text("-D" + define.name + "=" + define.value);
    }
    text += fmt::format("set({}_{}_FLAGS{})\n", prefix, use, flags);
    if (!arguments.empty()) text += fmt::format("set({}_{}_ARGUMENTS{})\n", prefix, use, arguments);
  }
  for (const auto& [sizes, use] : table.rule.table) {
    std::string name;
    for (const auto& [size, value] : sizes) name += fmt::format("_{}{}", size, value);
    text += fmt::format("set({}_FOR{} {})\n", prefix, identifier_of(name), use);
  }
  return text;
}

std::string to_csv(const DispatchTable& table) {
  std::vector<std::string> params;
  for (const database::Configuration& configuration : table.rule.configurations)
    for (const Setting& setting : configuration.params)
      if (std::ranges::find(params, setting.name) == params.end()) params.push_back(setting.name);
  std::vector<std::string> titles = {"kernel", "device", "arch"};
  for (const auto& [name, size] : table.rule.table.begin()->first) titles.push_back(name);
  titles.insert(titles.end(), params.begin(), params.end());
  titles.insert(titles.end(), {"artifact", "store_path"});
  std::string text = csv_row(titles);
  for (const auto& [sizes, use] : table.rule.table) {
    const database::Configuration& configuration = table.rule.configurations[use];
    std::vector<std::string> cells = {table.group.kernel, table.group.device.name, table.group.device.arch};
    for (const auto& [name, size] : sizes) cells.push_back(std::to_string(size));
    for (const std::string& name : params) {
      const auto setting = std::ranges::find(configuration.params, name, &Setting::name);
      cells.push_back(setting != configuration.params.end() ? to_text(setting->value) : "");
    }
    cells.insert(cells.end(), {configuration.artifact_hash, configuration.store_path});
    text += csv_row(cells);
  }
  return text;
}

}  // namespace tune::commands
