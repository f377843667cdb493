#pragma once
#include <optional>
#include <vector>

#include "model/constraints/constraint_automaton.h"
#include "model/constraints/diagram_product.h"
#include "model/space.h"
#include "model/values/random.h"

namespace tune {

/// Finds valid points of a mapping in which very few of very many points are valid, by branch and prune: it bisects the
/// ranges of values of one parameter after the other at random, and drops a half as soon as interval bounds show that
/// the constraints cannot hold in it. The last parameter of an equation is thus found by bisection, as a root is.
class BranchAndPrune {
 public:
  /// `space` must outlive this.
  BranchAndPrune(const Space& space, std::uint32_t mapping, Domains domains);

  /// A valid point; nullopt if there is none. Every valid point can be found, but not all with the same probability.
  /// Throws WorkBudget::Exhausted.
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
  std::vector<std::vector<std::uint32_t>> digits_;  ///< the values that each parameter may have, numbers ascending
  std::vector<std::vector<Cell>> cells_;            ///< the same values
  std::vector<char> ascending_;                     ///< per parameter: whether all values are numbers of one kind
  ExpressionGraph terms_;
  std::vector<int> requirements_;  ///< terms that must hold
  std::vector<int> parts_;         ///< these terms and all their parts, each after its operands
  std::vector<std::size_t>
      order_;  ///< the order in which the parameters are bisected, without those on which nothing depends
};

}  // namespace tune
