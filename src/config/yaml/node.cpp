#include "config/yaml/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/values/escaped_text.h"

namespace tune::config {
namespace {

constexpr std::size_t kMostShown = 60;  // bytes of a text in a message

/// The beginning of a long text.
std::string_view beginning(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && end < kMostShown) end += first_code_point(text.substr(end)).bytes;
  return text.substr(0, end);
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries)
    if (entry.key.text == key) return &entry.value;
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

void Node::set(const std::string& key, Node value) {
  if (Node* old = find(key)) {
    *old = std::move(value);
    return;
  }
  Node key_node = make_scalar(key, value.place);
  entries.push_back({std::move(key_node), std::move(value)});
}

void Node::erase(std::string_view key) {
  std::erase_if(entries, [key](const Entry& entry) { return entry.key.text == key; });
}

Node make_scalar(std::string text, const Place& place) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  node.place = place;
  return node;
}

Node make_text(const std::string& text, const Place& place) {
  Node node = make_scalar(text, place);
  node.quoted = true;
  return node;
}

Node make_mapping(const Place& place) {
  Node node;
  node.kind = Node::Kind::mapping;
  node.flow = true;
  node.place = place;
  return node;
}

Node make_list(const Place& place) {
  Node node = make_mapping(place);
  node.kind = Node::Kind::list;
  return node;
}

void relocate(Node& node, const Place& place) {
  node.place = place;
  for (Node& item : node.items) relocate(item, place);
  for (Entry& entry : node.entries) {
    entry.key.place = place;
    relocate(entry.value, place);
  }
}

bool same(const Node& x, const Node& y) {
  auto same_entry = [](const Entry& a, const Entry& b) { return same(a.key, b.key) && same(a.value, b.value); };
  return x.kind == y.kind && x.text == y.text && x.quoted == y.quoted && std::ranges::equal(x.items, y.items, same) &&
         std::ranges::equal(x.entries, y.entries, same_entry);
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return fmt::format("'{}{}'", line_with_escapes(beginning(node.text)),
                         beginning(node.text).size() < node.text.size() ? " ..." : "");
    case Node::Kind::list:
      return "a list";
    case Node::Kind::mapping:
      return "a mapping";
  }
  return {};
}

}  // namespace tune::config
