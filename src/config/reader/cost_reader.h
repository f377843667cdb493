#pragma once
#include <span>
#include <vector>

#include "config/reader/symbol_table.h"
#include "config/yaml/node.h"
#include "model/plan.h"

namespace tune::config {

/// Reads `model:`, one mapping or a list of them. Only a GEMM has tiles, and nothing is known of what a program reads.
std::vector<CostRule> read_cost_rules(const Node& node, const Problem& problem, SymbolTable& scope,
                                      Diagnostics& diagnostics);

/// What the launches of a GEMM's kernel say by themselves: its tile is what the grid divides m and n by, and its slice
/// what anything divides k by. Empty if that is not one tile, or if blocks work in clusters.
std::vector<CostRule> inferred_cost_rules(const Plan& plan, std::span<const Space::Mapping> mappings,
                                          const SymbolTable& scope);

}  // namespace tune::config
