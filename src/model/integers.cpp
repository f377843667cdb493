#include <algorithm>
#include <array>

#include "model/code.h"

namespace tune {
namespace {

bool is_comparison(Op op) { return op >= Op::less && op <= Op::not_equal; }

/// Division of 64 bits takes several times as long as of 32 on many CPUs, and sizes are small.
template <class Division>
std::int64_t divide_small(std::int64_t a, std::int64_t b, Division division) {
  if (((a | b) >> 32) == 0) return division(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  return division(a, b);
}

/// False where C++ and Python differ, or the result does not fit.
[[gnu::always_inline]] inline bool apply(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
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

}  // namespace

bool run_integers(const Code& code, std::span<const Value> slots, Cell& result) {
  // `top` is the top of the stack, `below` what lies under it: integers only. Only the top may be a boolean.
  std::array<std::int64_t, 24> stack;
  if (code.stack_size >= static_cast<int>(stack.size())) return false;
  std::int64_t* below = stack.data();
  std::int64_t top = 0;
  bool boolean = false;
  const std::array<const Value*, 3> sources = {nullptr, slots.data(), code.constants.data()};
  const Instruction* const end = code.instructions.data() + code.instructions.size();
  for (const Instruction* at = code.instructions.data(); at != end;) {
    std::int64_t left = top;
    std::int64_t right = top;
    if (at->source != Source::stack) {
      const auto* const integer = std::get_if<std::int64_t>(sources[static_cast<std::size_t>(at->source)] + at->index);
      if (!integer) return false;
      right = *integer;
    }
    const Instruction* next = at + 1;
    switch (at->op) {
      case Op::load:
        if (boolean) return false;
        *below++ = top;
        top = right;
        break;
      case Op::logical_not:
        top = top == 0;
        boolean = true;
        break;
      case Op::jump:
        next = at + at->index;
        break;
      case Op::jump_unless:
        if (top == 0) next = at + at->index;
        top = *--below;
        boolean = false;
        break;
      case Op::jump_unless_or_drop:
      case Op::jump_if_or_drop:
        if ((top != 0) == (at->op == Op::jump_if_or_drop)) {
          next = at + at->index;
        } else {
          top = *--below;
          boolean = false;
        }
        break;
      case Op::link:
        left = *--below;
        if (!apply(at->comparison, left, right, top)) return false;
        if (top != 0) {
          top = right;
        } else {
          next = at + at->index;
          boolean = true;
        }
        break;
      default:
        // The lesser of True and 2 is True, not 1.
        if (boolean && (at->op == Op::minimum || at->op == Op::maximum)) return false;
        if (at->source == Source::stack) left = *--below;
        if (!apply(at->op, left, right, top)) return false;
        boolean = is_comparison(at->op);
    }
    at = next;
  }
  if (boolean) {
    result.set(top != 0);
  } else {
    result.set(top);
  }
  return true;
}

}  // namespace tune
