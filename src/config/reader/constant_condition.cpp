#include "config/reader/constant_condition.h"

#include <algorithm>

#include "model/expression/code.h"

namespace tune::config {
namespace {

bool is_jump(Op op) { return op >= Op::jump; }

/// Whether the value is that of `and`, `or` or `if`, which end in a jump over the last operand.
bool is_chosen(const Code& code) {
  const auto size = static_cast<std::int64_t>(code.instructions.size());
  for (std::int64_t i = 0; i < size; ++i) {
    const Instruction& instruction = code.instructions[static_cast<std::size_t>(i)];
    if (is_jump(instruction.op) && i + instruction.index == size) return true;
  }
  return false;
}

bool may_be_false(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return std::holds_alternative<Bool>(value) || (integer != nullptr && (*integer == 0 || *integer == 1));
}

/// Whether a name can stand for a condition.
bool is_truth(const std::string& name, std::span<const Space::Mapping> mappings) {
  bool only_truths = true, is_parameter = false;
  for (const Space::Mapping& mapping : mappings) {
    if (std::ranges::find(mapping.derived, name, &Derived::name) != mapping.derived.end()) return true;
    for (const Parameter& parameter : mapping.parameters) {
      if (parameter.name != name) continue;
      is_parameter = true;
      only_truths = only_truths && std::ranges::all_of(parameter.values, may_be_false);
    }
  }
  return name.starts_with("device.") || (is_parameter && only_truths);
}

}  // namespace

bool compares_nothing(const Expression& condition, const Names& names, std::span<const Space::Mapping> mappings) {
  const Code& code = condition.code();
  if (is_chosen(code)) return false;
  const Op op = code.instructions.back().op;
  if (op == Op::load) return code.uses.empty() || !is_truth(names.at(code.uses.front().slot), mappings);
  const bool compares = (op >= Op::less && op <= Op::contains) || op == Op::in_list || op == Op::logical_not;
  return !compares && op != Op::link;
}

}  // namespace tune::config
