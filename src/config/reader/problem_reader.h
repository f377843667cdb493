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
/// is filled in: types by type of a, leading dimensions and strides tight.
ProblemSection read_problem(const Node& node, SymbolTable& scope, Diagnostics& diagnostics);

/// Returns a gemm without sizes in place of a problem that could not be read, so that its names are not reported too.
ProblemSection assume_gemm(SymbolTable& scope);

/// The buffers a kernel's arguments may name.
std::vector<std::string> buffer_names(const Problem& problem);

}  // namespace tune::config
