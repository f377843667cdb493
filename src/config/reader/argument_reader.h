#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/yaml/node.h"
#include "model/plan.h"

namespace tune::config {

/// Reads an expression. Returns nullopt if it is invalid; this is reported, with the second argument as its name.
using ExpressionReader = std::function<std::optional<Expression>(const Node&, std::string_view)>;

struct ArgumentContext {
  Backend backend = Backend::cpu;
  std::vector<std::string> buffers;  ///< `workspace` is understood in addition
  bool gemm = false;                 ///< alpha and beta are arguments of their own type
};

/// Reads one of a launch's args: a buffer, alpha, beta, an expression (passed as int), {i64: m} or i32, f32, f64,
/// {tma: A, box: [...], swizzle: 128, l2: 128}. Returns nullopt if it is invalid, which is reported.
std::optional<Argument> read_argument(const Node& node, const ArgumentContext& context, const ExpressionReader& read,
                                      Diagnostics& diagnostics);

}  // namespace tune::config
