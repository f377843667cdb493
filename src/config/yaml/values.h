#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/yaml/node.h"
#include "model/space.h"

namespace tune::config {

/// The values of one parameter and what arithmetic between them means.
struct ValueSet {
  std::vector<Value> values;
  Kind kind = Kind::ordinal;
};

/// Whether a node is written as one pair: [2, 1].
bool is_scalar_pair(const Node& node);
/// A list with this one item.
Node list_of(Node item);

/// Which texts are numbers if all texts of a list are arithmetic, such as 2*64.
enum class Arithmetic { none, unquoted, all };

/// Reads what follows a parameter's name; see read_params. Returns nullopt if it is invalid, which is reported.
std::optional<ValueSet> read_values(const Node& node, const std::string& name, Arithmetic arithmetic,
                                    Diagnostics& diagnostics);

/// The number or truth value of a text such as `2*64`; nullopt if the text is not arithmetic.
std::optional<Value> evaluate_text(const std::string& text);

/// The node that reads back as exactly this value in `params:`.
Node to_node(const Value& value, const Place& place);

}  // namespace tune::config
