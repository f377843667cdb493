#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string_view>

#include "model/expression/cell.h"

/// The operators of expressions, in one table: how each is written and how tightly it binds, how it is evaluated, and
/// how far its result can lie. The lexer, the parser and everything that evaluates expressions follow the table.
///
/// To add an operator: name it in Op, give it a row in kOperators, declare its evaluation in `cells` and write it in
/// arithmetic.cpp. Python must compute the same, or fail. If no BoundsRule fits, add one and write it in
/// diagrams/interval_bounds.cpp; with BoundsRule::none, constraints that use the operator are merely solved slower.
namespace tune {

/// What one instruction does. All but the jumps and `load` leave their result in place of their operands.
enum class Op : std::uint8_t {
  // The operators in the order of kOperators: those with one operand ...
  negate,
  plus,
  absolute,
  logical_not,
  // ... and those with two.
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  ceil_divide,
  minimum,
  maximum,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  contains,
  subscript,
  make_pair,
  // What else the stack machine does; code.h says what `index` is.
  load,
  in_list,              // `index` elements and what is looked for below them
  jump,                 // all jumps go `index` instructions further
  jump_unless,          // takes the condition off
  jump_unless_or_drop,  // `and`: keeps the condition if it jumps
  jump_if_or_drop,      // `or`
  link,                 // a link of a comparison chain: keeps the right operand, or jumps with False
};

/// Where the parser expects an operator, from the loosest to the tightest binding. The levels between `comparison` and
/// `sign` have two operands and associate from the left; one more level needs no more than a name here.
enum class Syntax : std::uint8_t {
  grammar,  ///< the parser has a rule of its own for it
  comparison,
  sum,
  product,
  sign,
  power,
  function,   ///< NAME(operands)
  selection,  ///< NAME(a, b, ...): one of two or more arguments, compared from left to right
};

/// How the bounds of the result follow from those of the operands.
enum class BoundsRule : std::uint8_t {
  none,      ///< nothing follows
  monotone,  ///< the extremes are among the results for the operands' extremes
  absolute,  ///< so they are, or else the least is zero
  quotient,  ///< monotone if the divisor cannot be zero
  rounded,   ///< a quotient rounded to an integer: the same, but for integers only
  remainder,
  power,  ///< monotone for integers, a base above zero and an exponent of zero or more
  comparison,
  negation,
};

/// Python's operators on values. Integers have 64 bits and never wrap: what does not fit is a fault. The result takes
/// the place of the (left) operand.
namespace cells {

Fault negate(Cell& cell);
Fault plus(Cell& cell);
Fault absolute(Cell& cell);
Fault logical_not(Cell& cell);
Fault add(Cell& left, const Cell& right);
Fault subtract(Cell& left, const Cell& right);
Fault multiply(Cell& left, const Cell& right);
/// True division: a real, whatever the operands.
Fault divide(Cell& left, const Cell& right);
/// Quotient rounded down, and the remainder that goes with it: it has the divisor's sign.
Fault floor_divide(Cell& left, const Cell& right);
Fault modulo(Cell& left, const Cell& right);
/// An integer for integers with an exponent of 0 or more, else a real.
Fault power(Cell& left, const Cell& right);
/// Quotient rounded up.
Fault ceil_divide(Cell& left, const Cell& right);
/// The lesser or greater of two; the left one if they are equal.
Fault minimum(Cell& left, const Cell& right);
Fault maximum(Cell& left, const Cell& right);
Fault contains(Cell& left, const Cell& right);
/// An element of a pair; -1 is the last.
Fault subscript(Cell& left, const Cell& right);
Fault make_pair(Cell& left, const Cell& right);
Fault less(Cell& left, const Cell& right);
Fault less_equal(Cell& left, const Cell& right);
Fault greater(Cell& left, const Cell& right);
Fault greater_equal(Cell& left, const Cell& right);
Fault equal(Cell& left, const Cell& right);
Fault not_equal(Cell& left, const Cell& right);

}  // namespace cells

/// The fast way for two integers, which most operands are. False where C++ and Python differ or the result does not
/// fit: then the function on cells has to be asked. Comparisons give 0 or 1.
namespace integers {

/// For operators that have no fast way.
inline bool none(std::int64_t, std::int64_t, std::int64_t&) { return false; }

/// Division of 64 bits takes several times as long as of 32 on many CPUs, and sizes are small.
template <class Division>
std::int64_t divide_small(std::int64_t a, std::int64_t b, Division division) {
  if (((a | b) >> 32) == 0) return division(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  return division(a, b);
}

inline bool add(std::int64_t a, std::int64_t b, std::int64_t& sum) { return !__builtin_add_overflow(a, b, &sum); }
inline bool subtract(std::int64_t a, std::int64_t b, std::int64_t& difference) {
  return !__builtin_sub_overflow(a, b, &difference);
}
inline bool multiply(std::int64_t a, std::int64_t b, std::int64_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}
inline bool floor_divide(std::int64_t a, std::int64_t b, std::int64_t& quotient) {
  if (a < 0 || b <= 0) return false;
  quotient = divide_small(a, b, [](auto x, auto y) { return x / y; });
  return true;
}
inline bool modulo(std::int64_t a, std::int64_t b, std::int64_t& remainder) {
  if (a < 0 || b <= 0) return false;
  remainder = divide_small(a, b, [](auto x, auto y) { return x % y; });
  return true;
}
inline bool ceil_divide(std::int64_t a, std::int64_t b, std::int64_t& quotient) {
  if (a <= 0 || b <= 0) return false;
  quotient = divide_small(a - 1, b, [](auto x, auto y) { return x / y; }) + 1;
  return true;
}
inline bool minimum(std::int64_t a, std::int64_t b, std::int64_t& least) {
  least = std::min(a, b);
  return true;
}
inline bool maximum(std::int64_t a, std::int64_t b, std::int64_t& greatest) {
  greatest = std::max(a, b);
  return true;
}
template <class Comparison>
bool compare(std::int64_t a, std::int64_t b, std::int64_t& holds) {
  holds = Comparison()(a, b);
  return true;
}
inline constexpr auto less = compare<std::less<>>;
inline constexpr auto less_equal = compare<std::less_equal<>>;
inline constexpr auto greater = compare<std::greater<>>;
inline constexpr auto greater_equal = compare<std::greater_equal<>>;
inline constexpr auto equal = compare<std::equal_to<>>;
inline constexpr auto not_equal = compare<std::not_equal_to<>>;

}  // namespace integers

/// A function of one or of two cells.
struct Evaluation {
  constexpr Evaluation(Fault (*function)(Cell&)) : one(function) {}
  constexpr Evaluation(Fault (*function)(Cell&, const Cell&)) : two(function) {}
  Fault (*one)(Cell&) = nullptr;
  Fault (*two)(Cell&, const Cell&) = nullptr;
};

struct Operator {
  Op op;
  std::string_view text;  ///< as it is written
  Syntax syntax;
  Evaluation evaluation;
  bool (*on_integers)(std::int64_t, std::int64_t, std::int64_t&);
  BoundsRule bounds;
};

inline constexpr Operator kOperators[] = {
    {Op::negate, "-", Syntax::sign, cells::negate, integers::none, BoundsRule::monotone},
    {Op::plus, "+", Syntax::sign, cells::plus, integers::none, BoundsRule::monotone},
    {Op::absolute, "abs", Syntax::function, cells::absolute, integers::none, BoundsRule::absolute},
    {Op::logical_not, "not", Syntax::grammar, cells::logical_not, integers::none, BoundsRule::negation},
    {Op::add, "+", Syntax::sum, cells::add, integers::add, BoundsRule::monotone},
    {Op::subtract, "-", Syntax::sum, cells::subtract, integers::subtract, BoundsRule::monotone},
    {Op::multiply, "*", Syntax::product, cells::multiply, integers::multiply, BoundsRule::monotone},
    {Op::divide, "/", Syntax::product, cells::divide, integers::none, BoundsRule::quotient},
    {Op::floor_divide, "//", Syntax::product, cells::floor_divide, integers::floor_divide, BoundsRule::rounded},
    {Op::modulo, "%", Syntax::product, cells::modulo, integers::modulo, BoundsRule::remainder},
    {Op::power, "**", Syntax::power, cells::power, integers::none, BoundsRule::power},
    {Op::ceil_divide, "ceil_div", Syntax::function, cells::ceil_divide, integers::ceil_divide, BoundsRule::rounded},
    {Op::minimum, "min", Syntax::selection, cells::minimum, integers::minimum, BoundsRule::monotone},
    {Op::maximum, "max", Syntax::selection, cells::maximum, integers::maximum, BoundsRule::monotone},
    {Op::less, "<", Syntax::comparison, cells::less, integers::less, BoundsRule::comparison},
    {Op::less_equal, "<=", Syntax::comparison, cells::less_equal, integers::less_equal, BoundsRule::comparison},
    {Op::greater, ">", Syntax::comparison, cells::greater, integers::greater, BoundsRule::comparison},
    {Op::greater_equal, ">=", Syntax::comparison, cells::greater_equal, integers::greater_equal,
     BoundsRule::comparison},
    {Op::equal, "==", Syntax::comparison, cells::equal, integers::equal, BoundsRule::comparison},
    {Op::not_equal, "!=", Syntax::comparison, cells::not_equal, integers::not_equal, BoundsRule::comparison},
    {Op::contains, "in", Syntax::grammar, cells::contains, integers::none, BoundsRule::none},
    {Op::subscript, "[", Syntax::grammar, cells::subscript, integers::none, BoundsRule::none},
    {Op::make_pair, ",", Syntax::grammar, cells::make_pair, integers::none, BoundsRule::none},
};

/// The row of an operator.
constexpr const Operator& operator_of(Op op) { return kOperators[static_cast<std::size_t>(op)]; }

static_assert(
    [] {
      for (std::size_t row = 0; row < std::size(kOperators); ++row)
        if (static_cast<std::size_t>(kOperators[row].op) != row) return false;
      return true;
    }(),
    "the rows stand in the order of Op");

inline bool is_unary(Op op) { return op < Op::add; }
inline bool is_comparison(Op op) { return op >= Op::less && op <= Op::not_equal; }

/// `cell = op cell`.
inline Fault apply(Op op, Cell& cell) { return operator_of(op).evaluation.one(cell); }
/// `left = left op right`.
inline Fault apply(Op op, Cell& left, const Cell& right) { return operator_of(op).evaluation.two(left, right); }

/// The fast way of an operator; false also where it has none. The compiler turns the comparisons into a jump table.
template <std::size_t row = 0>
[[gnu::always_inline]] inline bool apply_integers(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  if constexpr (row < std::size(kOperators)) {
    if (op == kOperators[row].op) return kOperators[row].on_integers(a, b, result);
    return apply_integers<row + 1>(op, a, b, result);
  }
  return false;
}

}  // namespace tune
