#include "model/expression/operations.h"

#include <algorithm>
#include <cassert>

#include "model/expression/arithmetic.h"

namespace tune {
namespace {

Comparison comparison_of(Op op) {
  static_assert(static_cast<int>(Op::not_equal) - static_cast<int>(Op::less) ==
                static_cast<int>(Comparison::not_equal) - static_cast<int>(Comparison::less));
  return static_cast<Comparison>(static_cast<int>(op) - static_cast<int>(Op::less));
}

}  // namespace

Fault apply(Op op, Cell& cell) {
  switch (op) {
    case Op::negate:
      return negate(cell);
    case Op::absolute:
      return absolute(cell);
    case Op::logical_not:
      cell.set(!truth(cell));
      return nullptr;
    case Op::plus: {
      if (cell.tag == Cell::Tag::boolean) cell.set(cell.integer);
      return not_a_number(cell);
    }
    default:
      assert(false);
      return nullptr;
  }
}

Fault apply(Op op, Cell& left, const Cell& right) {
  bool truth_value = false;
  Fault fault = nullptr;
  switch (op) {
    case Op::add:
      return add(left, right);
    case Op::subtract:
      return subtract(left, right);
    case Op::multiply:
      return multiply(left, right);
    case Op::divide:
      return divide(left, right);
    case Op::floor_divide:
      return floor_divide(left, right);
    case Op::modulo:
      return modulo(left, right);
    case Op::power:
      return power(left, right);
    case Op::ceil_divide:
      return ceil_divide(left, right);
    case Op::minimum:
      return minimum(left, right);
    case Op::maximum:
      return maximum(left, right);
    case Op::subscript:
      return subscript(left, right);
    case Op::make_pair:
      return make_pair(left, right);
    case Op::contains:
      fault = contains(left, right, truth_value);
      break;
    default:
      fault = compare(comparison_of(op), left, right, truth_value);
  }
  left.set(truth_value);
  return fault;
}

bool among(const Cell& wanted, std::span<const Cell> elements) {
  return std::any_of(elements.begin(), elements.end(), [&](const Cell& element) {
    bool same = false;
    return !compare(Comparison::equal, wanted, element, same) && same;
  });
}

}  // namespace tune
