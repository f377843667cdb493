#pragma once
#include <optional>
#include <vector>

#include "model/constraints/constraint_automaton.h"
#include "model/constraints/diagram_product.h"
#include "model/space.h"
#include "model/values/random.h"

namespace tune {

/// Finds valid points of a mapping where few of very many are: halves the values of one parameter after the other at
/// random, and leaves a half as soon as the ranges of what the constraints compute show that they cannot hold in it.
/// The last parameter of an equation is found as its root is.
class BranchAndPrune {
 public:
  /// `space` must outlive this.
  BranchAndPrune(const Space& space, std::uint32_t mapping, Domains domains);

  /// A valid point: any one can be found, but not all as probably. nullopt: there is none. Throws
  /// WorkBudget::Exhausted.
  std::optional<Space::Point> find(Random& random, WorkBudget& budget);

 private:
  /// Values [first, first + count) of each parameter.
  struct Range {
    std::size_t first = 0, count = 0;
  };
  using Box = std::vector<Range>;
  struct Attempt;

  void read_terms();
  Bounds bounds_of(std::size_t parameter, Range range) const;
  bool may_hold(const Box& box, std::vector<Bounds>& bounds) const;
  Space::Point point_of(const Box& box, Random& random) const;
  bool search(Box& box, Attempt& attempt) const;

  const Space* space_;
  std::uint32_t mapping_;
  std::vector<std::vector<std::uint32_t>> digits_;  ///< of each parameter: the values it may have, numbers ascending
  std::vector<std::vector<Cell>> cells_;            ///< the same values
  std::vector<char> ascending_;                     ///< whether they are numbers of one kind
  ExpressionGraph terms_;
  std::vector<int> requirements_;   ///< terms that must hold
  std::vector<int> parts_;          ///< what they are made of, each after its operands
  std::vector<std::size_t> order_;  ///< of the parameters that something depends on: each is known before the next one
};

}  // namespace tune
