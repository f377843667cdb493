#include "model/expression/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/expression/code.h"

namespace tune {
namespace {

constexpr Fault kTruthValue = "a truth value is not a number";

/// Runs one expression over one point. `top` is the last used cell of the stack.
class Machine {
 public:
  Machine(const Code& code, std::span<const Value> slots, Cell* stack) : code_(code), slots_(slots), top_(stack) {}

  Cell run(EvalFailure& failure) {
    const auto count = static_cast<std::int32_t>(code_.instructions.size());
    for (std::int32_t at = 0; at < count;) {
      const Instruction& instruction = code_.instructions[static_cast<std::size_t>(at)];
      std::int32_t step = 1;
      if (const Fault fault = execute(instruction, step)) {
        failure = {fault, at};
        break;
      }
      at += step;
    }
    return *top_;
  }

 private:
  Cell operand(const Instruction& instruction) {
    const auto index = static_cast<std::size_t>(instruction.index);
    switch (instruction.source) {
      case OperandSource::slot:
        return to_cell(slots_[index]);
      case OperandSource::constant:
        return to_cell(code_.constants[index]);
      case OperandSource::stack:
        break;
    }
    return *top_--;
  }

  Fault execute(const Instruction& instruction, std::int32_t& step) {
    switch (instruction.op) {
      case Op::load: {
        const Cell cell = operand(instruction);
        *++top_ = cell;
        return nullptr;
      }
      case Op::in_list: {
        top_ -= instruction.index;
        top_->set(among(*top_, {top_ + 1, static_cast<std::size_t>(instruction.index)}));
        return nullptr;
      }
      case Op::jump:
        step = instruction.index;
        return nullptr;
      case Op::jump_unless:
        if (!truth(*top_--)) step = instruction.index;
        return nullptr;
      case Op::jump_unless_or_drop:
        jump_or_drop(!truth(*top_), instruction, step);
        return nullptr;
      case Op::jump_if_or_drop:
        jump_or_drop(truth(*top_), instruction, step);
        return nullptr;
      case Op::link:
        return link(instruction, step);
      default: {
        if (is_unary(instruction.op)) return apply(instruction.op, *top_);
        const Cell right = operand(instruction);
        return apply(instruction.op, *top_, right);
      }
    }
  }

  void jump_or_drop(bool jumps, const Instruction& instruction, std::int32_t& step) {
    if (jumps) {
      step = instruction.index;
    } else {
      --top_;
    }
  }

  Fault link(const Instruction& instruction, std::int32_t& step) {
    const Cell right = *top_--;
    const Fault fault = apply(instruction.comparison, *top_, right);
    if (truth(*top_)) {
      *top_ = right;
    } else {
      step = instruction.index;
    }
    return fault;
  }

  const Code& code_;
  std::span<const Value> slots_;
  Cell* top_;
};

/// This is separate from run(), so that the common case does not pay for the stack frame.
[[gnu::noinline]] Cell run_machine(const Code& code, std::span<const Value> slots, EvalFailure& failure) {
  // The cell below the first is never read; it saves the machine a special case for an empty stack.
  const auto cells = static_cast<std::size_t>(code.stack_size) + 1;
  std::array<Cell, 32> small;
  if (cells <= small.size()) return Machine(code, slots, small.data()).run(failure);
  std::vector<Cell> large(cells);
  return Machine(code, slots, large.data()).run(failure);
}

inline Cell run(const Code& code, std::span<const Value> slots, EvalFailure& failure) {
  Cell result;
  return run_integers(code, slots, result) ? result : run_machine(code, slots, failure);
}

}  // namespace

Expression Expression::parse(std::string_view text, const Names& names) {
  Expression expression;
  expression.program_ = std::make_shared<const Program>(Program{parse_expression(text, names)});
  return expression;
}

Value Expression::evaluate(std::span<const Value> slots, EvalFailure& failure) const {
  const Cell result = run(*program_, slots, failure);
  return failure ? Value() : to_value(result);
}

bool Expression::holds(std::span<const Value> slots, EvalFailure& failure) const {
  const Cell result = run(*program_, slots, failure);
  return !failure && truth(result);
}

std::int64_t Expression::integer(std::span<const Value> slots, EvalFailure& failure) const {
  const Cell result = run(*program_, slots, failure);
  if (failure) return 0;
  if (result.tag == Cell::Tag::integer) return result.integer;
  const Fault fault = not_a_number(result);
  failure.what = fault ? fault : result.tag == Cell::Tag::real ? "not an integer (`//` divides integers)" : kTruthValue;
  return 0;
}

double Expression::number(std::span<const Value> slots, EvalFailure& failure) const {
  const Cell result = run(*program_, slots, failure);
  if (failure) return 0;
  failure.what = result.tag == Cell::Tag::boolean ? kTruthValue : not_a_number(result);
  return failure ? 0 : result.to_real();
}

std::string Expression::explain(const EvalFailure& failure, std::span<const Value> slots) const {
  const Code& code = *program_;
  Origin origin{0, 0, code.text.size()};
  if (failure.op >= 0) origin = code.origins[static_cast<std::size_t>(failure.op)];
  const std::size_t begin = failure.what == std::string_view(kDivisionByZero) ? origin.right : origin.begin;
  std::string listed;
  std::vector<int> seen;
  for (const Code::Use& use : code.uses) {
    const bool inside = begin <= use.position && use.position < origin.end;
    if (!inside || std::find(seen.begin(), seen.end(), use.slot) != seen.end()) continue;
    seen.push_back(use.slot);
    const Value& value = slots[static_cast<std::size_t>(use.slot)];
    listed += fmt::format("{}{}={}", listed.empty() ? "" : ", ", use.name, to_text(value));
  }
  if (!listed.empty()) return fmt::format("{} at {}", failure.what, listed);
  const auto text = std::string_view(code.text).substr(origin.begin, origin.end - origin.begin);
  return fmt::format("{} in '{}'", failure.what, text);
}

std::span<const int> Expression::used_slots() const { return program_->used_slots; }
const std::string& Expression::text() const { return program_->text; }
const Code& Expression::code() const { return *program_; }

}  // namespace tune
