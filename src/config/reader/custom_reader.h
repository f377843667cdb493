#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/reader/symbol_table.h"
#include "config/yaml/node.h"
#include "model/problem.h"

namespace tune::config {

/// Reads `custom: {sizes, buffers, flops, bytes, tolerance}`; adds the sizes to `scope` and to `constants`. Counts,
/// flops and bytes are expressions over the sizes; those of the counts are added to `counts`. `reference:` is left to
/// the caller.
Custom read_custom(const Node& node, SymbolTable& scope, std::map<std::string, Value>& constants,
                   std::vector<Expression>& counts, Diagnostics& diagnostics);

}  // namespace tune::config
