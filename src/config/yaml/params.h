#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/yaml/node.h"
#include "config/yaml/values.h"
#include "model/space.h"

namespace tune::config {

/// One mapping of `params:` as written.
struct ParameterMapping {
  Place place;
  std::vector<Parameter> parameters;
};

/// The name of a parameter in the key of a mapping, which may begin with `$`.
std::string bare_name(const std::string& key);
/// The entry of a parameter, whose key may begin with `$`; null: there is none.
Entry* find_entry(Node& mapping, const std::string& name);
const Entry* find_entry(const Node& mapping, const std::string& name);

/// Reads `params:`: a mapping, or a list of mappings. Values are a scalar, a list, {pow2: [a, b]},
/// {range: [a, b, step]} or {values: [...], kind: ...}; equal values are kept once. The kind is, unless given: ratio
/// for pow2, interval for range, ordinal for lists of numbers, categorical for anything else.
/// `taken` tells what already has a name ("a built-in function"), and returns an empty text if nothing has.
/// `needs_identifier` tells which parameters code sees by their names, which then must be identifiers; others are only
/// put into commands. In kbench's form, the list, `arithmetic` does not count: all texts are evaluated.
std::vector<ParameterMapping> read_params(const Node& node, const std::function<std::string(const std::string&)>& taken,
                                          const std::function<bool(const Parameter&)>& needs_identifier,
                                          Arithmetic arithmetic, Diagnostics& diagnostics);

/// Reads one parameter; `key` may begin with `$`. Returns nullopt if the name is invalid, and a parameter without
/// values if the values are invalid; both are reported.
std::optional<Parameter> read_parameter(const Node& key, const Node& value, Arithmetic arithmetic,
                                        Diagnostics& diagnostics);

/// Reads a mapping of one value per name (`default:`, a baseline). [2, 1] is a single value if `mappings` give that
/// parameter pairs.
std::vector<Setting> read_settings(const Node& node, std::string_view what,
                                   const std::vector<ParameterMapping>& mappings, Diagnostics& diagnostics);

}  // namespace tune::config
