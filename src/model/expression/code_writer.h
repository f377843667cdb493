#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "model/expression/code.h"

namespace tune {

/// Writes instructions one after the other and keeps count of the stack. Knows nothing of the text's grammar.
class CodeWriter {
 public:
  explicit CodeWriter(std::string_view text) { code_.text = text; }

  /// Where the next instruction will stand.
  std::size_t size() const { return code_.instructions.size(); }

  /// Returns where the instruction stands; it leaves `growth` more cells on the stack than before.
  std::size_t emit(Instruction instruction, Origin origin, int growth);
  void emit_name(int slot, std::string_view name, Origin origin);
  void emit_constant(Value value, Origin origin);
  /// A right operand that is one load (from instruction `right_code` on) is taken where it lies.
  void emit_binary(Op op, Origin origin, std::size_t right_code);

  /// Makes the literal that is all of the code from `start` on negative; false if there is something else.
  bool negate_literal(std::size_t start);

  std::size_t emit_jump(Op op, int growth) { return emit({op}, {}, growth); }
  /// The jump leads to the instruction that comes next.
  void land(std::size_t jump);

  /// What comes next stands in the place of what was just written, on the stack too, until swap() puts it before.
  void begin_swap() { --stack_; }
  /// Exchanges the code in [start, middle) with that in [middle, size()).
  void swap(std::size_t start, std::size_t middle);

  Code finish();

 private:
  Code code_;
  int stack_ = 0;
};

}  // namespace tune
