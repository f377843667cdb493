#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/expression/expression.h"
#include "model/expression/operators.h"

namespace tune {

/// Where an operand comes from.
enum class OperandSource : std::uint8_t { stack, slot, constant };

struct Instruction {
  Op op;
  OperandSource source = OperandSource::stack;
  Op comparison = Op::load;  ///< of a `link`
  std::int32_t index = 0;    ///< slot, constant, list size or distance of a jump
};

/// The part [begin, end) of the text that an instruction stands for; its right operand begins at `right`. It is used in
/// explanations only.
struct Origin {
  std::size_t begin = 0;
  std::size_t right = 0;
  std::size_t end = 0;
};

/// A parsed expression: instructions for a stack machine, in postfix order. Jumps are relative, so that a run of
/// instructions can be moved as a whole.
struct Code {
  struct Use {
    std::size_t position;
    int slot;
    std::string name;
  };
  std::string text;
  std::vector<Instruction> instructions;
  std::vector<Origin> origins;  ///< one per instruction
  std::vector<Value> constants;
  std::vector<Use> uses;        ///< every name in the text, from left to right
  std::vector<int> used_slots;  ///< sorted
  int stack_size = 0;
};

/// Throws ExpressionError.
Code parse_expression(std::string_view text, const Names& names);

/// A fast machine for code on integers, which most code is. It keeps values in registers and gives up at anything rare:
/// another kind of value, overflow, a negative or zero divisor. True if `result` is the value; false if the general
/// machine has to find the value or the failure.
bool run_integers(const Code& code, std::span<const Value> slots, Cell& result);

struct Expression::Program : Code {};

}  // namespace tune
