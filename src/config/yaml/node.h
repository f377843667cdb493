#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/diagnostics.h"

namespace tune::config {

/// A key and its value in a mapping: below.
struct Entry;

/// A YAML value as the user wrote it: texts verbatim, keys in order, every node with its place. Aliases are copied in.
struct Node {
  enum class Kind { null, scalar, list, mapping };
  Kind kind = Kind::null;
  std::string text;            ///< scalar
  bool quoted = false;         ///< scalar
  bool flow = false;           ///< list and mapping: written as [..] or {..}
  std::vector<Node> items;     ///< list
  std::vector<Entry> entries;  ///< mapping; no key twice
  std::string comment;         ///< what follows `#` after a scalar that stands on one line
  Place place;

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_mapping() const { return kind == Kind::mapping; }

  /// The value of a mapping's key, or null.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  /// Replaces the value of a mapping's key, or appends the key.
  void set(const std::string& key, Node value);
  void erase(std::string_view key);
};

struct Entry {
  Node key;  ///< a scalar
  Node value;
};

Node make_scalar(std::string text, const Place& place);
/// A quoted scalar.
Node make_text(const std::string& text, const Place& place);
/// A flow mapping or list without entries.
Node make_mapping(const Place& place);
Node make_list(const Place& place);

/// Gives the node and everything within it one place, for a text that is not a file of its own.
void relocate(Node& node, const Place& place);

/// Same kinds, texts and structure; places, comments and styles are not compared.
bool same(const Node& x, const Node& y);

/// `a mapping`, `a list`, `'text'`, `nothing`: what messages call the node.
std::string describe(const Node& node);

/// Reads one YAML document. `file` is its name in places. Reports duplicate keys and keys that are not a text; throws
/// Error(bad_input) for malformed YAML and for several documents. An empty text gives a null node.
Node parse_yaml(const std::string& text, const std::string& file, Diagnostics& diagnostics);

/// Reads a file with `parse_yaml`. Throws Error(bad_input) if it cannot be read.
Node read_yaml(const std::filesystem::path& path, Diagnostics& diagnostics);

/// The node as YAML text, block style at the top and each part below as it was written; ends with a newline.
std::string to_yaml(const Node& node);

}  // namespace tune::config
