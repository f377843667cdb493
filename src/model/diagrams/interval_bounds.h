#pragma once
#include <optional>
#include <span>
#include <utility>

#include "model/expression/expression_graph.h"

namespace tune {

/// Interval arithmetic on terms: what is known of a term's value before all its variables are assigned. Variables of
/// many values need it: tests/bench/spaces/thread_blocks.json cannot be counted without.
struct Bounds {
  /// The least and the greatest possible value: two integers, reals or booleans; nullopt: nothing is known.
  std::optional<std::pair<Cell, Cell>> range;
  bool may_fail = true;

  static Bounds of(const Computed& outcome);
  static Bounds of(std::span<const Cell> values);

  /// Whether the value is true or false, if this is known.
  std::optional<bool> truth() const;
};

/// The bounds of a term from those of its operands. They may be wider than necessary, but never too narrow.
Bounds bound(const Term& term, std::span<const Bounds* const> operands);

}  // namespace tune
