#include <cmath>

#include "model/expression/operators.h"

/// The evaluation of the operators on cells.
namespace tune {
namespace cells {
namespace {

bool integral(const Cell& left, const Cell& right) { return left.is_integral() && right.is_integral(); }

Fault not_numbers(const Cell& left, const Cell& right) {
  const Fault fault = not_a_number(left);
  return fault ? fault : not_a_number(right);
}

/// Two integers are combined by `integers(a, b, result)`, which returns whether the result overflows; other numbers are
/// combined as reals by `reals(a, b)`.
template <class Integers, class Reals>
Fault combine(Cell& left, const Cell& right, Integers integers, Reals reals) {
  if (integral(left, right)) {
    std::int64_t result = 0;
    if (integers(left.integer, right.integer, result)) return kOverflow;
    left.set(result);
    return nullptr;
  }
  if (const Fault fault = not_numbers(left, right)) return fault;
  left.set(reals(left.to_real(), right.to_real()));
  return nullptr;
}

/// Whether a division of integers has no 64-bit quotient. C++ leaves it undefined.
bool division_overflows(std::int64_t dividend, std::int64_t divisor) { return divisor == -1 && dividend == INT64_MIN; }

/// The fault of dividing these; null if both are numbers and the divisor is not zero.
Fault check_divisor(const Cell& left, const Cell& right) {
  if (const Fault fault = not_numbers(left, right)) return fault;
  return right.to_real() == 0 ? kDivisionByZero : nullptr;
}

double floored_remainder(double dividend, double divisor) {
  const double remainder = std::fmod(dividend, divisor);
  if (remainder == 0) return std::copysign(0.0, divisor);
  return (remainder < 0) != (divisor < 0) ? remainder + divisor : remainder;
}

/// Uses the exact remainder, because floor(dividend / divisor) is one too large when the quotient rounds up to an
/// integer. The remainder that has the dividend's sign is finite for an infinite divisor too.
double floored_quotient(double dividend, double divisor) {
  const double remainder = std::fmod(dividend, divisor);
  double quotient = (dividend - remainder) / divisor;
  if (remainder != 0 && (remainder < 0) != (divisor < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, dividend / divisor);
  // As Python rounds it: a quotient above 2^51 can have a half, which goes down.
  const double below = std::floor(quotient);
  return quotient - below > 0.5 ? below + 1 : below;
}

Fault integer_power(std::int64_t base, std::int64_t exponent, std::int64_t& result) {
  result = 1;
  while (true) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) return kOverflow;
    exponent /= 2;
    if (exponent == 0) return nullptr;
    // The square is needed later, because the exponent has bits left; so its overflow is one of the result.
    if (__builtin_mul_overflow(base, base, &base)) return kOverflow;
  }
}

Fault real_power(double base, double exponent, double& result) {
  if (base == 0 && exponent < 0) return "zero has no negative power";
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) && exponent != std::floor(exponent)) {
    return "a negative number has no power with a fraction";
  }
  result = std::pow(base, exponent);
  return std::isinf(result) && std::isfinite(base) && std::isfinite(exponent) ? kOverflow : nullptr;
}

Fault pick(Comparison better, Cell& left, const Cell& right) {
  bool take_right = false;
  if (const Fault fault = compare(better, right, left, take_right)) return fault;
  if (take_right) left = right;
  return nullptr;
}

Fault decide(Comparison comparison, Cell& left, const Cell& right) {
  bool holds = false;
  const Fault fault = compare(comparison, left, right, holds);
  left.set(holds);
  return fault;
}

}  // namespace

Fault add(Cell& left, const Cell& right) {
  return combine(
      left, right, [](std::int64_t a, std::int64_t b, std::int64_t& sum) { return __builtin_add_overflow(a, b, &sum); },
      [](double a, double b) { return a + b; });
}

Fault subtract(Cell& left, const Cell& right) {
  return combine(
      left, right,
      [](std::int64_t a, std::int64_t b, std::int64_t& difference) {
        return __builtin_sub_overflow(a, b, &difference);
      },
      [](double a, double b) { return a - b; });
}

Fault multiply(Cell& left, const Cell& right) {
  return combine(
      left, right,
      [](std::int64_t a, std::int64_t b, std::int64_t& product) { return __builtin_mul_overflow(a, b, &product); },
      [](double a, double b) { return a * b; });
}

Fault divide(Cell& left, const Cell& right) {
  if (const Fault fault = check_divisor(left, right)) return fault;
  left.set(left.to_real() / right.to_real());
  return nullptr;
}

Fault floor_divide(Cell& left, const Cell& right) {
  if (const Fault fault = check_divisor(left, right)) return fault;
  return combine(
      left, right,
      [](std::int64_t a, std::int64_t b, std::int64_t& quotient) {
        if (division_overflows(a, b)) return true;
        quotient = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
        return false;
      },
      floored_quotient);
}

Fault modulo(Cell& left, const Cell& right) {
  if (const Fault fault = check_divisor(left, right)) return fault;
  return combine(
      left, right,
      [](std::int64_t a, std::int64_t b, std::int64_t& remainder) {
        remainder = b == -1 ? 0 : a % b;
        if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
        return false;
      },
      floored_remainder);
}

Fault ceil_divide(Cell& left, const Cell& right) {
  if (const Fault fault = check_divisor(left, right)) return fault;
  return combine(
      left, right,
      [](std::int64_t a, std::int64_t b, std::int64_t& quotient) {
        if (division_overflows(a, b)) return true;
        quotient = a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
        return false;
      },
      [](double a, double b) { return -floored_quotient(-a, b); });
}

Fault power(Cell& left, const Cell& right) {
  if (const Fault fault = not_numbers(left, right)) return fault;
  if (integral(left, right) && right.integer >= 0) {
    std::int64_t result = 0;
    if (const Fault fault = integer_power(left.integer, right.integer, result)) return fault;
    left.set(result);
    return nullptr;
  }
  double result = 0;
  if (const Fault fault = real_power(left.to_real(), right.to_real(), result)) return fault;
  left.set(result);
  return nullptr;
}

Fault minimum(Cell& left, const Cell& right) { return pick(Comparison::less, left, right); }
Fault maximum(Cell& left, const Cell& right) { return pick(Comparison::greater, left, right); }

Fault subscript(Cell& left, const Cell& right) {
  if (left.tag != Cell::Tag::pair) return "only a pair has subscripts";
  if (!right.is_integral()) return "a subscript is an integer";
  if (right.integer < -2 || right.integer > 1) return "a pair has the subscripts 0 and 1";
  left.set(right.integer == 0 || right.integer == -2 ? left.integer : left.second);
  return nullptr;
}

Fault make_pair(Cell& left, const Cell& right) {
  if (!integral(left, right)) return "a pair is of two integers";
  left.set(Pair{left.integer, right.integer});
  return nullptr;
}

Fault less(Cell& left, const Cell& right) { return decide(Comparison::less, left, right); }
Fault less_equal(Cell& left, const Cell& right) { return decide(Comparison::less_equal, left, right); }
Fault greater(Cell& left, const Cell& right) { return decide(Comparison::greater, left, right); }
Fault greater_equal(Cell& left, const Cell& right) { return decide(Comparison::greater_equal, left, right); }
Fault equal(Cell& left, const Cell& right) { return decide(Comparison::equal, left, right); }
Fault not_equal(Cell& left, const Cell& right) { return decide(Comparison::not_equal, left, right); }

Fault contains(Cell& left, const Cell& right) {
  bool holds = false;
  const Fault fault = tune::contains(left, right, holds);
  left.set(holds);
  return fault;
}

Fault negate(Cell& cell) {
  Cell zero = to_cell(std::int64_t{0});
  if (cell.tag == Cell::Tag::real) {
    cell.real = -cell.real;
    return nullptr;
  }
  const Fault fault = subtract(zero, cell);
  cell = zero;
  return fault;
}

Fault absolute(Cell& cell) {
  if (cell.tag == Cell::Tag::real) {
    cell.real = std::fabs(cell.real);
    return nullptr;
  }
  if (const Fault fault = not_a_number(cell)) return fault;
  if (cell.integer < 0) return negate(cell);
  cell.set(cell.integer);
  return nullptr;
}

Fault plus(Cell& cell) {
  if (cell.tag == Cell::Tag::boolean) cell.set(cell.integer);
  return not_a_number(cell);
}

Fault logical_not(Cell& cell) {
  cell.set(!truth(cell));
  return nullptr;
}

}  // namespace cells
}  // namespace tune
