#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/reader/symbol_table.h"
#include "config/yaml/node.h"
#include "config/yaml/params.h"
#include "model/plan.h"

namespace tune::config {

/// What launches may refer to.
struct LaunchContext {
  Backend backend = Backend::cpu;
  std::vector<Backend> others;  ///< backends of the file's other sources; their entries are not an error
  std::string kernel;           ///< of an entry that names none
  std::vector<std::string> buffers;
  bool gemm = false;               ///< alpha and beta are arguments of their own type
  std::vector<std::string> pairs;  ///< parameters whose values are pairs: two dimensions at once
};

/// That of a plan whose problem and kernel are known.
LaunchContext launch_context(const Plan& plan, std::vector<Backend> others, std::span<const ParameterMapping> params);

struct LaunchSection {
  std::vector<Launch> launches;
  std::optional<Workspace> workspace;
  bool zero_c = false;
};

/// Reads `launch:`, one mapping or a list of them. Expressions may depend on the spec.
LaunchSection read_launches(const Node& node, const LaunchContext& context, SymbolTable& scope,
                            Diagnostics& diagnostics);

/// Reads a reference kernel's launch, which must not depend on the spec.
Launch read_reference_launch(const Node& node, const LaunchContext& context, SymbolTable& scope,
                             Diagnostics& diagnostics);

}  // namespace tune::config
