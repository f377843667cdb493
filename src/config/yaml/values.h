#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/yaml/node.h"
#include "model/space.h"

namespace tune::config {

/// Whether a node is written as one pair: [2, 1].
bool is_scalar_pair(const Node& node);
/// A list with this one item.
Node list_of(Node item);

/// Which texts are numbers if all texts of a list are arithmetic, such as 2*64.
enum class Arithmetic { none, unquoted, all };

/// Reads the values and the kind of a parameter, which has its name already; see read_params. It gets no values if they
/// are invalid, which is reported.
void read_values(const Node& node, Arithmetic arithmetic, Parameter& parameter, Diagnostics& diagnostics);

/// The number or truth value of a text such as `2*64`; nullopt if the text is not arithmetic.
std::optional<Value> evaluate_text(const std::string& text);

/// The node that reads back as exactly this value in `params:`.
Node to_node(const Value& value, const Place& place);

}  // namespace tune::config
