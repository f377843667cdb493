#include "config/yaml/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/yaml/values.h"
#include "model/values/value.h"

namespace tune::config {
namespace {

constexpr std::size_t kMostListed = 12;  // keys in a message

/// The section of a tuning file that has this key, which may have been put elsewhere; empty: none is known.
std::string_view section_of(std::string_view key) {
  using Keys = std::vector<std::string_view>;
  static const std::map<std::string_view, Keys> kSections = {
      {"problem", {"gemm", "custom"}},
      {"custom", {"sizes", "buffers", "reference"}},
      {"launch", {"args", "grid", "block", "cluster", "shared", "programmatic", "workspace", "c_init", "repeat"}},
      {"build", {"flags", "defines"}},
  };
  for (const auto& [section, keys] : kSections)
    if (std::ranges::find(keys, key) != keys.end()) return section;
  return "";
}

std::optional<Value> read_arithmetic(const Node& node) {
  return node.is_scalar() ? evaluate_text(node.text) : std::nullopt;
}

}  // namespace

Fields::Fields(const Node& node, std::string what, const std::vector<std::string_view>& keys, Diagnostics& diagnostics)
    : node_(&node), what_(std::move(what)), diagnostics_(&diagnostics) {
  if (!node.is_mapping()) {
    diagnostics.add(node.place, fmt::format("{} must be a mapping, not {}", what_, describe(node)));
    return;
  }
  const std::vector<std::string> known(keys.begin(), keys.end());
  const auto is_known = [&](const std::string& key) { return std::ranges::find(known, key) != known.end(); };
  const auto advice_on = [&](const std::string& key) {
    const std::string_view section = what_ == "the tuning file" || what_ == "problem" ? section_of(key) : "";
    const std::string advice = did_you_mean(key, known);
    if (!advice.empty()) return advice;
    if (!section.empty()) return fmt::format("; it stands in {}:", section);
    return known.size() <= kMostListed ? fmt::format("; it may have {}", fmt::join(known, ", ")) : "";
  };
  for (const Entry& entry : node.entries)
    if (const std::size_t colon = entry.key.text.find(':');
        entry.value.kind == Node::Kind::null && !entry.key.quoted && colon != std::string::npos) {
      const std::string key = entry.key.text.substr(0, colon), value = entry.key.text.substr(colon + 1);
      const std::string advice = is_known(key) ? fmt::format("; write {}: {}", key, value)
                                               : fmt::format(", and '{}' is no key of it{}", key, advice_on(key));
      diagnostics.add(entry.key.place,
                      fmt::format("'{}' in {} lacks a blank behind its colon{}", entry.key.text, what_, advice));
      diagnostics.throw_if_any();  // what else would be said follows from it
    }
  for (const Entry& entry : node.entries) {
    if (is_known(entry.key.text)) continue;
    unknown_.push_back(entry.key.text);
    diagnostics.add(entry.key.place,
                    fmt::format("unknown key '{}' in {}{}", entry.key.text, what_, advice_on(entry.key.text)));
  }
}

const Node* Fields::find(std::string_view key) const {
  const Node* value = node_->find(key);
  if (value == nullptr || value->kind != Node::Kind::null) return value;
  diagnostics_->add(value->place, fmt::format("'{}' in {} has no value; give one or remove the key", key, what_));
  return nullptr;
}

const Node* Fields::require(std::string_view key) const {
  if (!node_->is_mapping() || node_->find(key) != nullptr) return find(key);
  const Node* misspelled = find_misspelled(key);
  if (misspelled == nullptr) diagnostics_->add(node_->place, fmt::format("{} needs '{}:'", what_, key));
  return misspelled;
}

const Node* Fields::find_misspelled(std::string_view key) const {
  const std::vector<std::string> meant = {std::string(key)};
  const auto is_meant = [&](const std::string& unknown) { return !did_you_mean(unknown, meant).empty(); };
  const auto found = std::ranges::find_if(unknown_, is_meant);
  return found == unknown_.end() ? nullptr : node_->find(*found);
}

std::string Fields::text(std::string_view key) const {
  const Node* node = find(key);
  return node != nullptr ? read_text(*node, key, *diagnostics_).value_or("") : "";
}

std::optional<std::string> read_text(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  if (node.is_scalar()) return node.text;
  diagnostics.add(node.place, fmt::format("{} must be a text, not {}", what, describe(node)));
  return {};
}

std::optional<bool> read_bool(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  if (node.is_scalar() && !node.quoted) {
    const Value value = parse_value(node.text);
    if (const Bool* truth = std::get_if<Bool>(&value)) return truth->value;
  }
  diagnostics.add(node.place, fmt::format("{} must be true or false, not {}", what, describe(node)));
  return {};
}

std::optional<std::int64_t> read_integer(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  const std::optional<Value> value = read_arithmetic(node);
  if (value && std::holds_alternative<std::int64_t>(*value)) return std::get<std::int64_t>(*value);
  diagnostics.add(node.place, fmt::format("{} must be an integer, not {}", what, describe(node)));
  return {};
}

std::optional<double> read_number(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  const std::optional<Value> value = read_arithmetic(node);
  if (value && std::holds_alternative<std::int64_t>(*value)) return static_cast<double>(std::get<std::int64_t>(*value));
  if (value && std::holds_alternative<double>(*value)) return std::get<double>(*value);
  diagnostics.add(node.place, fmt::format("{} must be a number, not {}", what, describe(node)));
  return {};
}

std::vector<const Node*> as_list(const Node& node) {
  if (!node.is_list()) return {&node};
  std::vector<const Node*> items;
  for (const Node& item : node.items) items.push_back(&item);
  return items;
}

std::vector<std::string> read_texts(const Node& node, std::string_view what, Diagnostics& diagnostics) {
  std::vector<std::string> texts;
  for (const Node* item : as_list(node)) {
    if (auto text = read_text(*item, fmt::format("each entry of {}", what), diagnostics)) texts.push_back(*text);
  }
  return texts;
}

std::optional<std::size_t> read_choice(const Node& node, std::string_view what,
                                       std::span<const std::string_view> choices, Diagnostics& diagnostics) {
  const auto found = std::ranges::find(choices, node.text);
  if (node.is_scalar() && found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  diagnostics.add(node.place,
                  fmt::format("{} must be one of {}, not {}", what, fmt::join(choices, ", "), describe(node)));
  return {};
}

}  // namespace tune::config
