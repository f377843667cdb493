#pragma once
#include <cstddef>
#include <string_view>

#include "model/expression/code.h"

namespace tune {

/// Writes instructions one after the other and keeps track of the stack size. It knows nothing of the grammar.
class CodeWriter {
 public:
  explicit CodeWriter(std::string_view text) { code_.text = text; }

  /// Where the next instruction will stand.
  std::size_t size() const { return code_.instructions.size(); }

  /// Returns where the instruction stands; it leaves `growth` more cells on the stack than before.
  std::size_t emit(Instruction instruction, Origin origin, int growth);
  void emit_name(int slot, std::string_view name, Origin origin);
  void emit_constant(Value value, Origin origin);
  /// If the right operand (the code from `right_code` on) is a single load, the instruction reads it directly.
  void emit_binary(Op op, Origin origin, std::size_t right_code);

  /// Negates the literal that the code from `start` on consists of; false if there is something else.
  bool negate_literal(std::size_t start);

  std::size_t emit_jump(Op op, int growth) { return emit({op}, {}, growth); }
  /// Makes the jump lead to the instruction that comes next.
  void land(std::size_t jump);

  /// The code that follows will be moved before the code just written by swap(), so it starts from the same stack.
  void begin_swap() { --stack_; }
  /// Exchanges the code in [start, middle) with that in [middle, size()).
  void swap(std::size_t start, std::size_t middle);

  Code finish();

 private:
  Code code_;
  int stack_ = 0;
};

}  // namespace tune
