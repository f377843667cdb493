#pragma once
#include <map>
#include <string>

#include "config/reader/symbol_table.h"
#include "config/yaml/node.h"
#include "model/problem.h"

namespace tune::config {

/// `problem:`, and the names it adds to every scope.
struct ProblemSection {
  Problem problem;
  std::map<std::string, Value> constants;
  std::vector<Expression> counts = {};  ///< custom: the elements of each buffer
  const Node* reference = nullptr;      ///< custom: unread, because it needs the parameters' names
};

/// Reads `problem: {gemm: ...}` or `problem: {custom: ...}` and adds its constants to `scope`. Of a gemm every default
/// is filled in: types by type of a, leading dimensions and strides tight. Throws what is in `diagnostics` if it is
/// neither.
ProblemSection read_problem(const Node& node, SymbolTable& scope, Diagnostics& diagnostics);

/// The buffers a kernel's arguments may name.
std::vector<std::string> buffer_names(const Problem& problem);

}  // namespace tune::config
