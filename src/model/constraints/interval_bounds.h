#pragma once
#include <optional>
#include <span>
#include <utility>

#include "model/expression/expression_graph.h"

namespace tune {

/// What is known of a term's value before all of its variables have one.
struct Bounds {
  /// The least and the greatest it can be, both integers, both reals or both booleans; nullopt: anything.
  std::optional<std::pair<Cell, Cell>> range;
  bool may_fail = true;

  static Bounds of(const Computed& outcome);
  static Bounds of(std::span<const Cell> values);

  /// Its truth, where it has a value, if that is known.
  std::optional<bool> truth() const;
};

/// What follows for a term from what is known of its operands. It may know less than could be known, never more.
Bounds bound(const Term& term, std::span<const Bounds* const> operands);

}  // namespace tune
