#include "database/database_key.h"

#include <fmt/format.h>

#include "config/yaml/params.h"
#include "config/yaml/values.h"

namespace tune::database {
namespace {

config::Node texts_node(std::initializer_list<std::pair<const char*, std::string>> texts) {
  config::Node node = config::make_mapping({});
  for (const auto& [name, text] : texts) set_text(node, name, text);
  return node;
}

}  // namespace

void set_text(config::Node& node, const char* key, const std::string& text) {
  if (!text.empty()) node.set(key, config::make_text(text, {}));
}

config::Node sizes_node(const Sizes& sizes) {
  config::Node node = config::make_mapping({});
  for (const auto& [name, size] : sizes) node.set(name, config::make_scalar(std::to_string(size), {}));
  return node;
}

void set_key(config::Node& node, const ResultGroup& group, const Sizes& sizes) {
  set_text(node, "kernel", group.kernel);
  set_text(node, "backend", group.backend);
  if (!sizes.empty()) node.set("sizes", sizes_node(sizes));
  config::Node problem = config::make_mapping({});
  for (const auto& [name, text] : group.problem) problem.set(name, config::make_text(text, {}));
  if (!group.problem.empty()) node.set("problem", std::move(problem));
  if (group.state != "burst") set_text(node, "state", group.state);
  const TunedDevice& device = group.device;
  node.set("device", texts_node({{"name", device.name}, {"arch", device.arch}, {"driver", device.driver}}));
  config::Node versions = texts_node({{"compiler", device.compiler}, {"vendor_library", device.vendor_library}});
  if (!versions.entries.empty()) node.set("versions", std::move(versions));
  set_text(node, "source", group.source);
}

void set_configuration(config::Node& node, const Configuration& configuration) {
  config::Node params = config::make_mapping({});
  for (const Setting& setting : configuration.params)
    params.set((setting.run_time ? "$" : "") + setting.name, config::to_node(setting.value, {}));
  node.set("params", std::move(params));
  set_text(node, "artifact", configuration.artifact_hash);
  set_text(node, "store_path", configuration.store_path);
}

std::map<std::string, std::string> read_text_mapping(const config::Node* node, const char* what,
                                                     config::Diagnostics& diagnostics) {
  std::map<std::string, std::string> texts;
  if (node == nullptr) return texts;
  if (!node->is_mapping())
    diagnostics.add(node->place, fmt::format("{} must be a mapping, not {}", what, config::describe(*node)));
  for (const config::Entry& entry : node->entries)
    texts[entry.key.text] = config::read_text(entry.value, what, diagnostics).value_or("");
  return texts;
}

Sizes read_sizes(const config::Node& node, config::Diagnostics& diagnostics) {
  Sizes sizes;
  if (!node.is_mapping())
    diagnostics.add(node.place, fmt::format("sizes must be a mapping, not {}", config::describe(node)));
  for (const config::Entry& entry : node.entries)
    if (const auto size = config::read_integer(entry.value, "a size", diagnostics))
      sizes.emplace_back(entry.key.text, *size);
  return sizes;
}

ResultKey read_key(const config::Fields& fields) {
  config::Diagnostics& diagnostics = fields.diagnostics();
  ResultKey key;
  ResultGroup& group = key.group;
  for (const char* needed : {"kernel", "backend", "device"}) fields.require(needed);
  group.kernel = fields.text("kernel");
  group.backend = fields.text("backend");
  if (const config::Node* sizes = fields.find("sizes")) key.sizes = read_sizes(*sizes, diagnostics);
  group.problem = read_text_mapping(fields.find("problem"), "problem", diagnostics);
  if (fields.find("state") != nullptr) group.state = fields.text("state");
  if (const config::Node* node = fields.find("device")) {
    const config::Fields device(*node, "device", {"name", "arch", "driver"}, diagnostics);
    device.require("name");
    group.device = {device.text("name"), device.text("arch"), device.text("driver"), {}, {}};
  }
  if (const config::Node* node = fields.find("versions")) {
    const config::Fields versions(*node, "versions", {"compiler", "vendor_library"}, diagnostics);
    group.device.compiler = versions.text("compiler");
    group.device.vendor_library = versions.text("vendor_library");
  }
  group.source = fields.text("source");
  return key;
}

Configuration read_configuration(const config::Fields& fields) {
  const config::Node* params = fields.require("params");
  if (params == nullptr) return {};
  return {config::read_settings(*params, "params", {}, fields.diagnostics()), fields.text("artifact"),
          fields.text("store_path")};
}

}  // namespace tune::database
