#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/reader/symbol_table.h"
#include "config/yaml/node.h"
#include "model/plan.h"

namespace tune::config {

/// Reads `build:`, but for its `run`. Relative folders and files are relative to `folder`; `defines` name `constants`.
/// With `files_must_exist` it reports files in `depends` that do not exist.
BuildRules read_build(const Node& node, const std::filesystem::path& folder,
                      const std::map<std::string, Value>& constants, bool program_mode, bool files_must_exist,
                      Diagnostics& diagnostics);

/// Reads `measure:`. What it does not say stays as it is in `rules`.
MeasureRules read_measure(const Node& node, MeasureRules rules, Diagnostics& diagnostics);
/// Complains if specs that are timed for max_seconds would be given up at --timeout-run. `measure`: null if absent.
void check_run_seconds(const Node* measure, const MeasureRules& rules, double run_seconds, Diagnostics& diagnostics);

/// Reads `metrics:`. In program mode a name declared nowhere is a column of the program's result and is added to
/// `scope`, and a metric without an expression is the column of its name.
std::vector<Metric> read_metrics(const Node& node, bool program_mode, SymbolTable& scope, Diagnostics& diagnostics);

/// The condition of a constraint, and its reason.
struct ConditionNode {
  const Node* condition;
  std::string reason;
};

/// Reads the entries of `constraints:` or `prune_after_build:`: a text, whose reason is its trailing comment, or
/// {if, because}; without either the reason is the condition itself.
std::vector<ConditionNode> read_conditions(const Node& node, std::string_view what, Diagnostics& diagnostics);

}  // namespace tune::config
