#pragma once
#include <algorithm>
#include <cstdint>

#include "model/expression/code.h"

/// The fast way through operations of two integers, as most are.
namespace tune {

inline bool is_comparison(Op op) { return op >= Op::less && op <= Op::not_equal; }

/// Whether apply_integers computes a number by it.
inline bool is_of_integers(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::floor_divide:
    case Op::modulo:
    case Op::ceil_divide:
    case Op::minimum:
    case Op::maximum:
      return true;
    default:
      return false;
  }
}

/// Division of 64 bits takes several times as long as of 32 on many CPUs, and sizes are small.
template <class Division>
std::int64_t divide_small(std::int64_t a, std::int64_t b, Division division) {
  if (((a | b) >> 32) == 0) return division(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  return division(a, b);
}

/// False where C++ and Python differ, the result does not fit, or the operation is none of two integers; comparisons
/// give 0 or 1.
[[gnu::always_inline]] inline bool apply_integers(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  switch (op) {
    case Op::add:
      return !__builtin_add_overflow(a, b, &result);
    case Op::subtract:
      return !__builtin_sub_overflow(a, b, &result);
    case Op::multiply:
      return !__builtin_mul_overflow(a, b, &result);
    case Op::floor_divide:
      if (a < 0 || b <= 0) return false;
      result = divide_small(a, b, [](auto x, auto y) { return x / y; });
      return true;
    case Op::modulo:
      if (a < 0 || b <= 0) return false;
      result = divide_small(a, b, [](auto x, auto y) { return x % y; });
      return true;
    case Op::ceil_divide:
      if (a <= 0 || b <= 0) return false;
      result = divide_small(a - 1, b, [](auto x, auto y) { return x / y; }) + 1;
      return true;
    case Op::minimum:
      result = std::min(a, b);
      return true;
    case Op::maximum:
      result = std::max(a, b);
      return true;
    case Op::less:
      result = a < b;
      return true;
    case Op::less_equal:
      result = a <= b;
      return true;
    case Op::greater:
      result = a > b;
      return true;
    case Op::greater_equal:
      result = a >= b;
      return true;
    case Op::equal:
      result = a == b;
      return true;
    case Op::not_equal:
      result = a != b;
      return true;
    default:
      return false;
  }
}

}  // namespace tune
