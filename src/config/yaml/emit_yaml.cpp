#include <string_view>

#include "config/yaml/node.h"
#include "model/values/escaped_text.h"
#include "model/values/value.h"

namespace tune::config {
namespace {

/// A character that means something at the start of a scalar; some of them only before a blank.
bool starts_something_else(const std::string& text) {
  const bool alone = text.size() == 1 || text[1] == ' ';
  if (std::string_view("-?:").find(text[0]) != std::string_view::npos) return alone;
  return std::string_view(" ,[]{}#&*!|>'\"%@`").find(text[0]) != std::string_view::npos;
}

/// Whether a text that was plain where it came from, or was made from one, may stand plain here.
bool may_be_plain(const std::string& text, bool in_flow) {
  if (text.empty() || !needs_no_escape(text) || starts_something_else(text)) return false;
  if (text.back() == ' ' || text.back() == ':' || text.starts_with("---") || text.starts_with("...")) return false;
  if (text.find(": ") != std::string::npos || text.find(" #") != std::string::npos) return false;
  return !in_flow || text.find_first_of(",[]{}") == std::string::npos;
}

std::string scalar(const Node& node, bool in_flow) {
  if (node.kind == Node::Kind::null) return "null";
  return node.quoted || !may_be_plain(node.text, in_flow) ? to_yaml(Value(node.text)) : node.text;
}

std::string flow(const Node& node) {
  std::string text;
  if (node.is_list()) {
    for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + flow(item);
    return '[' + text + ']';
  }
  if (node.is_mapping()) {
    for (const Entry& entry : node.entries) {
      text += (text.empty() ? "" : ", ") + scalar(entry.key, true) + ": " + flow(entry.value);
    }
    return '{' + text + '}';
  }
  return scalar(node, true);
}

bool on_one_line(const Node& node) {
  return node.is_scalar() || node.kind == Node::Kind::null || node.flow || (node.items.empty() && node.entries.empty());
}

std::string inline_text(const Node& node) {
  return node.is_list() || node.is_mapping() ? flow(node) : scalar(node, false);
}

std::string block(const Node& node, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text;
  for (const Entry& entry : node.entries) {
    text += margin + scalar(entry.key, false) + ':';
    text += on_one_line(entry.value) ? ' ' + inline_text(entry.value) + '\n' : '\n' + block(entry.value, indent + 2);
  }
  for (const Node& item : node.items) {
    // A block inside a list item starts on the item's own line, in place of its margin.
    const std::string inner = on_one_line(item) ? inline_text(item) + '\n'
                                                : block(item, indent + 2).substr(static_cast<std::size_t>(indent) + 2);
    text += margin + "- " + inner;
  }
  return text;
}

}  // namespace

std::string to_yaml(const Node& node) {
  if (node.is_mapping() && !node.entries.empty()) return block(node, 0);
  return on_one_line(node) ? inline_text(node) + '\n' : block(node, 0);
}

}  // namespace tune::config
