#pragma once
#include <span>

#include "model/expression/cell.h"
#include "model/expression/code.h"

namespace tune {

/// `cell = op cell`, for the operations with one operand.
Fault apply(Op op, Cell& cell);

/// `left = left op right`, for those with two.
Fault apply(Op op, Cell& left, const Cell& right);

/// Whether `wanted` equals one of the elements of a list.
bool among(const Cell& wanted, std::span<const Cell> elements);

}  // namespace tune
