#include <array>

#include "model/expression/code.h"

namespace tune {
namespace {

/// The top of the stack is kept apart, in a register. Below it lie integers only; the top may be a boolean.
class IntegerMachine {
 public:
  IntegerMachine(const Value* slots, const Value* constants, std::int64_t* stack)
      : sources_{nullptr, slots, constants}, below_(stack) {}

  /// False if the instruction needs the general machine. `step` is the distance to the next instruction.
  [[gnu::always_inline]] bool execute(const Instruction& at, std::int32_t& step) {
    std::int64_t right = top_;
    if (at.source != OperandSource::stack && !fetch(at, right)) return false;
    switch (at.op) {
      case Op::load:
        return push(right);
      case Op::logical_not:
        return set(top_ == 0 ? 1 : 0, true);
      case Op::jump:
        step = at.index;
        return true;
      case Op::jump_unless:
        step = top_ == 0 ? at.index : 1;
        return drop();
      case Op::jump_unless_or_drop:
        return top_ == 0 ? jump(at, step) : drop();
      case Op::jump_if_or_drop:
        return top_ != 0 ? jump(at, step) : drop();
      case Op::link:
        return link(at, right, step);
      case Op::in_list:
        return false;
      default:
        return binary(at, right);
    }
  }

  void get(Cell& result) const {
    if (boolean_) {
      result.set(top_ != 0);
    } else {
      result.set(top_);
    }
  }

 private:
  bool fetch(const Instruction& at, std::int64_t& operand) const {
    const auto* const integer = std::get_if<std::int64_t>(sources_[static_cast<std::size_t>(at.source)] + at.index);
    if (integer) operand = *integer;
    return integer != nullptr;
  }

  bool set(std::int64_t value, bool boolean) {
    top_ = value;
    boolean_ = boolean;
    return true;
  }

  bool push(std::int64_t value) {
    if (boolean_) return false;
    *below_++ = top_;
    top_ = value;
    return true;
  }

  bool drop() { return set(*--below_, false); }

  static bool jump(const Instruction& at, std::int32_t& step) {
    step = at.index;
    return true;
  }

  [[gnu::always_inline]] bool binary(const Instruction& at, std::int64_t right) {
    // The lesser of True and 2 is True, not 1.
    if (boolean_ && operator_of(at.op).syntax == Syntax::selection) return false;
    const std::int64_t left = at.source == OperandSource::stack ? *--below_ : top_;
    boolean_ = is_comparison(at.op);
    return apply_integers(at.op, left, right, top_);
  }

  bool link(const Instruction& at, std::int64_t right, std::int32_t& step) {
    std::int64_t holds = 0;
    if (!apply_integers(at.comparison, *--below_, right, holds)) return false;
    if (holds == 0) return set(0, true) && jump(at, step);
    top_ = right;
    return true;
  }

  std::array<const Value*, 3> sources_;
  std::int64_t* below_;
  std::int64_t top_ = 0;
  bool boolean_ = false;
};

}  // namespace

bool run_integers(const Code& code, std::span<const Value> slots, Cell& result) {
  std::array<std::int64_t, 24> stack;
  if (code.stack_size >= static_cast<int>(stack.size())) return false;
  IntegerMachine machine(slots.data(), code.constants.data(), stack.data());
  const Instruction* const end = code.instructions.data() + code.instructions.size();
  for (const Instruction* at = code.instructions.data(); at != end;) {
    std::int32_t step = 1;
    if (!machine.execute(*at, step)) return false;
    at += step;
  }
  machine.get(result);
  return true;
}

}  // namespace tune
