#pragma once
#include "model/expression/cell.h"

/// Python's arithmetic on cells. Integers are 64-bit and never wrap: what does not fit is a fault.
namespace tune {

/// `left = left op right`.
Fault add(Cell& left, const Cell& right);
Fault subtract(Cell& left, const Cell& right);
Fault multiply(Cell& left, const Cell& right);
/// True division: a real, whatever the operands.
Fault divide(Cell& left, const Cell& right);
/// Quotient rounded down, and the remainder that goes with it: it has the divisor's sign.
Fault floor_divide(Cell& left, const Cell& right);
Fault modulo(Cell& left, const Cell& right);
/// Quotient rounded up.
Fault ceil_divide(Cell& left, const Cell& right);
/// An integer for integers with an exponent of 0 or more, else a real.
Fault power(Cell& left, const Cell& right);
/// The lesser or greater of two; the left one if they are equal.
Fault minimum(Cell& left, const Cell& right);
Fault maximum(Cell& left, const Cell& right);
/// An element of a pair; -1 is the last.
Fault subscript(Cell& left, const Cell& right);
Fault make_pair(Cell& left, const Cell& right);
Fault negate(Cell& cell);
Fault absolute(Cell& cell);

}  // namespace tune
