#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/node.h"
#include "model/values/text.h"

namespace tune::config {

/// A mapping with a fixed set of keys. The constructor reports a node of another kind and unknown keys; it throws what
/// is in the diagnostics at a key that lacks the blank behind its colon.
class Fields {
 public:
  /// `what` is the name of the mapping in messages, such as `launch`. A node of another kind counts as a mapping
  /// without entries.
  Fields(const Node& node, std::string what, const std::vector<std::string_view>& keys, Diagnostics& diagnostics);

  /// The value of a key, or null. A key without a value is reported, and gives null too.
  const Node* find(std::string_view key) const;
  /// Does what `find` does, and also reports a missing key. Of an unknown key that was probably meant to be this one,
  /// which is reported already, it gives the value.
  const Node* require(std::string_view key) const;
  /// The text of a key; empty if there is none, or if it is no text, which is reported.
  std::string text(std::string_view key) const;

  const std::string& what() const { return what_; }
  const Place& place() const { return node_->place; }
  Diagnostics& diagnostics() const { return *diagnostics_; }

 private:
  const Node* find_misspelled(std::string_view key) const;

  const Node* node_;
  std::string what_;
  Diagnostics* diagnostics_;
  std::vector<std::string> unknown_;  ///< keys, which were reported
};

/// These read scalars of one type. Each reports anything else, naming `what`, and then returns nullopt.
std::optional<std::string> read_text(const Node& node, std::string_view what, Diagnostics& diagnostics);
std::optional<bool> read_bool(const Node& node, std::string_view what, Diagnostics& diagnostics);
/// A number, or an arithmetic expression without names such as 64*1024.
std::optional<std::int64_t> read_integer(const Node& node, std::string_view what, Diagnostics& diagnostics);
std::optional<double> read_number(const Node& node, std::string_view what, Diagnostics& diagnostics);

/// A list of texts; a single scalar counts as a list of one.
std::vector<std::string> read_texts(const Node& node, std::string_view what, Diagnostics& diagnostics);

/// The nodes of a list; any other node counts as a list of one.
std::vector<const Node*> as_list(const Node& node);

/// The index of the choice that the node names. Anything else is reported together with the choices.
using Choices = std::initializer_list<std::string_view>;
std::optional<std::size_t> read_choice(const Node& node, std::string_view what,
                                       std::span<const std::string_view> choices, Diagnostics& diagnostics);
/// The enumerator that the node names. `names`: of all, in the order of the enumeration.
template <typename Enum>
std::optional<Enum> read_enumerator(const Node& node, std::string_view what, std::span<const std::string_view> names,
                                    Diagnostics& diagnostics) {
  const auto index = read_choice(node, what, names, diagnostics);
  return index ? std::optional(static_cast<Enum>(*index)) : std::nullopt;
}

}  // namespace tune::config
