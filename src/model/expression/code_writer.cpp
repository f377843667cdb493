#include "model/expression/code_writer.h"

#include <algorithm>

namespace tune {

std::size_t CodeWriter::emit(Instruction instruction, Origin origin, int growth) {
  stack_ += growth;
  code_.stack_size = std::max(code_.stack_size, stack_);
  code_.instructions.push_back(instruction);
  code_.origins.push_back(origin);
  return size() - 1;
}

void CodeWriter::emit_name(int slot, std::string_view name, Origin origin) {
  code_.uses.push_back({origin.begin, slot, std::string(name)});
  emit({.op = Op::load, .source = OperandSource::slot, .index = slot}, origin, 1);
}

void CodeWriter::emit_constant(Value value, Origin origin) {
  const auto index = static_cast<std::int32_t>(code_.constants.size());
  code_.constants.push_back(std::move(value));
  emit({.op = Op::load, .source = OperandSource::constant, .index = index}, origin, 1);
}

void CodeWriter::emit_binary(Op op, Origin origin, std::size_t right_code) {
  Instruction instruction{op};
  if (right_code + 1 == size() && code_.instructions.back().op == Op::load) {
    instruction = code_.instructions.back();
    instruction.op = op;
    code_.instructions.pop_back();
    code_.origins.pop_back();
  }
  emit(instruction, origin, -1);
}

bool CodeWriter::negate_literal(std::size_t start) {
  const Instruction& load = code_.instructions.back();
  if (start + 1 != size() || load.op != Op::load || load.source != OperandSource::constant) return false;
  Value& literal = code_.constants[static_cast<std::size_t>(load.index)];
  if (auto* const integer = std::get_if<std::int64_t>(&literal)) *integer = -*integer;
  if (auto* const number = std::get_if<double>(&literal)) *number = -*number;
  return std::holds_alternative<std::int64_t>(literal) || std::holds_alternative<double>(literal);
}

void CodeWriter::land(std::size_t jump) { code_.instructions[jump].index = static_cast<std::int32_t>(size() - jump); }

void CodeWriter::swap(std::size_t start, std::size_t middle) {
  const auto rotate = [&](auto& items) {
    const auto from = [&](std::size_t index) { return items.begin() + static_cast<std::ptrdiff_t>(index); };
    std::rotate(from(start), from(middle), items.end());
  };
  rotate(code_.instructions);
  rotate(code_.origins);
}

Code CodeWriter::finish() {
  std::vector<int>& slots = code_.used_slots;
  for (const Code::Use& use : code_.uses) slots.push_back(use.slot);
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return std::move(code_);
}

}  // namespace tune
