#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/diagrams/constraint_automaton.h"

namespace tune {

/// A parameter that depends on others through constraints.
struct Variable {
  std::uint32_t parameter = 0;
  std::vector<std::uint32_t> digits;  ///< the values it may have, as indices; ascending
};

/// An automaton and its scope: the indices of the variables that it reads, in their order.
struct ScopedAutomaton {
  ConstraintAutomaton automaton;
  std::vector<std::size_t> scope;
};

/// A multi-valued decision diagram: which combinations of values of some variables all automata accept. It has a layer
/// of nodes per variable and one path per combination; an edge stands for a run of consecutive values that lead to the
/// same node. Partial combinations after which the same remains to be decided share a node, so that the diagram is much
/// smaller than the list of combinations. Combinations are numbered in the order of the variables, the last one
/// fastest.
class DecisionDiagram {
 public:
  struct Limits {
    std::size_t edges = std::size_t{1} << 24;
    WorkBudget budget = {};
  };
  /// nullopt if the diagram would have more than 2^63 - 1 paths or exceed the limits.
  static std::optional<DecisionDiagram> build(std::vector<Variable> variables, std::vector<ScopedAutomaton> automata,
                                              const Limits& limits);

  std::span<const Variable> variables() const { return variables_; }
  std::int64_t size() const { return size_; }
  /// Writes the digits of the variables' parameters.
  void at(std::int64_t index, std::span<std::uint32_t> digits) const;
  std::optional<std::int64_t> index_of(std::span<const std::uint32_t> digits) const;

 private:
  class Builder;
  struct Edge {
    std::uint32_t first, count;  ///< of the variable's values, as indices into its digits
    std::uint32_t node;          ///< of the next layer
  };
  struct Layer {
    std::vector<std::uint32_t> begin = {0};  ///< where each node's edges begin, and where the last one's end
    std::vector<Edge> edges;
    std::vector<std::int64_t> before;  ///< per edge: the number of paths through earlier edges of the same node
    std::vector<std::int64_t> paths;   ///< the number of paths from each node of the next layer
  };

  bool count();
  static bool keep_live(Layer& layer, std::span<const std::int64_t> below, std::vector<std::int64_t>& paths);

  std::vector<Variable> variables_;
  std::vector<Layer> layers_;
  std::int64_t size_ = 0;
};

}  // namespace tune
