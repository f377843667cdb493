#include "model/diagrams/interval_bounds.h"

#include <algorithm>
#include <cmath>

namespace tune {
namespace {

using Range = std::pair<Cell, Cell>;

const Bounds kAnything{};

bool less(const Cell& a, const Cell& b) {
  bool result = false;
  compare(Comparison::less, a, b, result);
  return result;
}

bool is_finite(const Cell& cell) { return cell.tag != Cell::Tag::real || std::isfinite(cell.real); }

/// The smallest range that contains both; nullopt if they are of different kinds.
std::optional<Range> hull(const std::optional<Range>& a, const std::optional<Range>& b) {
  if (!a || !b || a->first.tag != b->first.tag) return std::nullopt;
  return Range{less(a->first, b->first) ? a->first : b->first, less(a->second, b->second) ? b->second : a->second};
}

Bounds truth_of(std::optional<bool> known, bool may_fail) {
  Range range;
  range.first.set(known.value_or(false));
  range.second.set(known.value_or(true));
  return {range, may_fail};
}

bool positive(const Range& range) { return less(to_cell(std::int64_t{0}), range.first); }
bool negative(const Range& range) { return less(range.second, to_cell(std::int64_t{0})); }
bool is_integer(const Range& range) { return range.first.tag == Cell::Tag::integer; }

/// Whether an operation takes its extremes where its operands take theirs.
bool is_monotone(BoundsRule rule, const Range& left, const Range& right) {
  switch (rule) {
    case BoundsRule::monotone:
      return true;
    case BoundsRule::quotient:
      return positive(right) || negative(right);
    case BoundsRule::rounded:
      return is_integer(left) && is_integer(right) && (positive(right) || negative(right));
    case BoundsRule::power:
      return is_integer(left) && is_integer(right) && positive(left) && !less(right.first, to_cell(std::int64_t{0}));
    default:
      return false;
  }
}

Bounds at_corners(Op op, const Range& left, const Range& right) {
  std::optional<Range> range;
  for (const Cell& a : {left.first, left.second}) {
    for (const Cell& b : {right.first, right.second}) {
      Cell result = a;
      if (apply(op, result, b) || !is_finite(result)) return kAnything;
      range = range ? hull(range, Range{result, result}) : Range{result, result};
      if (!range) return kAnything;
    }
  }
  return {range, false};
}

/// The remainder for a positive divisor; it is exact if the quotient is the same everywhere.
Bounds remainder(const Range& left, const Range& right) {
  if (!positive(right) || !is_integer(left) || !is_integer(right)) return kAnything;
  const std::int64_t least = left.first.integer, most = left.second.integer;
  const std::int64_t smallest = right.first.integer, greatest = right.second.integer;
  Range range{to_cell(std::int64_t{0}), to_cell(greatest - 1)};
  if (least < 0) return {range, false};
  range.second.integer = std::min(range.second.integer, most);
  const std::int64_t quotient = least / greatest;
  if (quotient == most / smallest) range = {to_cell(least - quotient * greatest), to_cell(most - quotient * smallest)};
  return {range, false};
}

std::optional<bool> ordered(Op op, const Range& left, const Range& right) {
  const bool below = less(left.second, right.first);
  const bool above = less(right.second, left.first);
  const bool never_above = !less(right.first, left.second);
  const bool never_below = !less(left.first, right.second);
  const auto decide = [](bool yes, bool no) {
    return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt;
  };
  switch (op) {
    case Op::less:
      return decide(below, never_below);
    case Op::less_equal:
      return decide(never_above, above);
    case Op::greater:
      return decide(above, never_above);
    case Op::greater_equal:
      return decide(never_below, below);
    case Op::equal:
      return decide(never_above && never_below, below || above);
    default:
      return decide(below || above, never_above && never_below);
  }
}

Bounds bound_two(Op op, const Bounds& left, const Bounds& right) {
  const BoundsRule rule = operator_of(op).bounds;
  const bool operands_fail = left.may_fail || right.may_fail;
  if (rule == BoundsRule::comparison) {
    if (left.range && right.range) return truth_of(ordered(op, *left.range, *right.range), operands_fail);
    const bool any_kinds = op == Op::equal || op == Op::not_equal;
    return truth_of(std::nullopt, operands_fail || !any_kinds);
  }
  if (!left.range || !right.range) return kAnything;
  Bounds result;
  // Python mixes numbers and booleans in more ways than are worth following here.
  if (left.range->first.tag == Cell::Tag::boolean || right.range->first.tag == Cell::Tag::boolean) return kAnything;
  if (is_monotone(rule, *left.range, *right.range)) result = at_corners(op, *left.range, *right.range);
  if (rule == BoundsRule::remainder) result = remainder(*left.range, *right.range);
  result.may_fail = result.may_fail || operands_fail;
  return result;
}

Bounds bound_one(Op op, const Bounds& operand) {
  const BoundsRule rule = operator_of(op).bounds;
  if (rule == BoundsRule::negation) {
    const auto truth = operand.truth();
    return truth_of(truth ? std::optional(!*truth) : std::nullopt, operand.may_fail);
  }
  if (rule != BoundsRule::monotone && rule != BoundsRule::absolute) return kAnything;
  if (!operand.range || operand.range->first.tag == Cell::Tag::boolean) return kAnything;
  Range range = *operand.range;
  if (apply(op, range.first) || apply(op, range.second)) return kAnything;
  if (less(range.second, range.first)) std::swap(range.first, range.second);
  const bool spans_zero = !positive(*operand.range) && !negative(*operand.range);
  if (rule == BoundsRule::absolute && spans_zero) {
    Cell& zero = range.first;
    if (zero.tag == Cell::Tag::real) {
      zero.set(0.0);
    } else {
      zero.set(std::int64_t{0});
    }
  }
  return {range, operand.may_fail};
}

bool is_boolean(const Bounds& bounds) { return bounds.range && bounds.range->first.tag == Cell::Tag::boolean; }

/// The bounds of `left and right`, or of `left or right` if `decides` is true.
Bounds bound_branches(bool decides, const Bounds& left, const Bounds& right) {
  const auto truth = left.truth();
  if (truth && *truth == decides) return left;
  const bool may_fail = left.may_fail || right.may_fail;
  if (truth) return {right.range, may_fail};
  if (is_boolean(left) && is_boolean(right) && right.truth() == decides) return truth_of(decides, may_fail);
  return {hull(left.range, right.range), may_fail};
}

Bounds bound_choice(const Bounds& condition, const Bounds& then, const Bounds& otherwise) {
  const auto truth = condition.truth();
  if (truth) return {(*truth ? then : otherwise).range, condition.may_fail || (*truth ? then : otherwise).may_fail};
  return {hull(then.range, otherwise.range), condition.may_fail || then.may_fail || otherwise.may_fail};
}

}  // namespace

Bounds Bounds::of(const Computed& outcome) {
  if (outcome.fault) return kAnything;
  return of(std::span(&outcome.cell, 1));
}

Bounds Bounds::of(std::span<const Cell> values) {
  Bounds bounds{std::nullopt, false};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_number() || !is_finite(values[i])) return {std::nullopt, false};
    const Range alone{values[i], values[i]};
    bounds.range = i == 0 ? alone : hull(bounds.range, alone);
    if (!bounds.range) return bounds;
  }
  return bounds;
}

std::optional<bool> Bounds::truth() const {
  if (!range) return std::nullopt;
  const bool first = tune::truth(range->first);
  const bool second = tune::truth(range->second);
  if (range->first.tag == Cell::Tag::boolean) return first == second ? std::optional(first) : std::nullopt;
  if (positive(*range) || negative(*range)) return true;
  return first || second ? std::nullopt : std::optional(false);
}

Bounds bound(const Term& term, std::span<const Bounds* const> operands) {
  switch (term.kind) {
    case Term::Kind::unary:
      return bound_one(term.op, *operands[0]);
    case Term::Kind::binary:
      return bound_two(term.op, *operands[0], *operands[1]);
    case Term::Kind::conjunction:
      return bound_branches(false, *operands[0], *operands[1]);
    case Term::Kind::disjunction:
      return bound_branches(true, *operands[0], *operands[1]);
    case Term::Kind::choice:
      return bound_choice(*operands[0], *operands[1], *operands[2]);
    case Term::Kind::member:
      return truth_of(std::nullopt, std::any_of(operands.begin(), operands.end(), [](auto* b) { return b->may_fail; }));
    case Term::Kind::constant:
    case Term::Kind::variable:
      break;
  }
  return kAnything;
}

}  // namespace tune
