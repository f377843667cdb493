#pragma once
#include <span>
#include <string>
#include <vector>

#include "config/yaml/diagnostics.h"
#include "config/yaml/node.h"
#include "model/plan.h"

namespace tune::config {

/// What objectives there may be.
struct ObjectiveContext {
  std::span<const Metric> metrics;
  std::span<const std::string> figures;  ///< further columns that are known
  std::span<const std::string> asked;    ///< on the command line, in place of those of the tuning file
  bool any_column = false;               ///< any column that the program may report, whose time alone is known
  bool has_flops = false;
};

/// The names of the objectives, the one that decides first; empty: none is given. `node` may be null. Throws
/// Error(bad_input) for what the command line asks for.
std::vector<std::string> read_objectives(const Node* node, const ObjectiveContext& context, Diagnostics& diagnostics);

}  // namespace tune::config
