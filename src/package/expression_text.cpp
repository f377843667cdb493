#include "package/expression_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "model/expression/operators.h"

namespace tune::package {
namespace {

constexpr const char* kOnlyNumbers = "let numbers depend on them, such as '1 if m > 64 else 2', and nothing else";

/// The function of number.h that does what the operator does.
const char* function_of(Op op) {
  switch (op) {
    case Op::negate:
      return "negate";
    case Op::plus:
      return "plus";
    case Op::absolute:
      return "absolute";
    case Op::logical_not:
      return "logical_not";
    case Op::add:
      return "add";
    case Op::subtract:
      return "subtract";
    case Op::multiply:
      return "multiply";
    case Op::divide:
      return "divide";
    case Op::floor_divide:
      return "floor_divide";
    case Op::modulo:
      return "modulo";
    case Op::power:
      return "power";
    case Op::ceil_divide:
      return "ceil_divide";
    case Op::minimum:
      return "minimum";
    case Op::maximum:
      return "maximum";
    case Op::less:
      return "less";
    case Op::less_equal:
      return "less_equal";
    case Op::greater:
      return "greater";
    case Op::greater_equal:
      return "greater_equal";
    case Op::equal:
      return "equal";
    case Op::not_equal:
      return "not_equal";
    default:
      throw NotPackaged(
          fmt::format("'{}' of values that depend on the sizes or the device is not known to packages; {}",
                      operator_of(op).text, kOnlyNumbers));
  }
}

}  // namespace

std::string ExpressionText::number(double real) {
  if (!std::isfinite(real)) throw NotPackaged("a number that is not finite is not known to packages");
  return fmt::format("Number::of_real({:a})", real);
}

std::string ExpressionText::constant(const Computed& value) const {
  if (value.fault) return "Number::fault()";
  if (value.cell.tag == Cell::Tag::real) return number(value.cell.real);
  if (!value.cell.is_integral())
    throw NotPackaged(fmt::format(
        "a text or a pair beside values that depend on the sizes or the device is not known to packages; {}",
        kOnlyNumbers));
  if (value.cell.integer == INT64_MIN) return "Number(INT64_MIN)";
  return fmt::format("{}", value.cell.integer);
}

std::string ExpressionText::of(int term) const {
  if (const auto named = names_.find(term); named != names_.end()) return named->second;
  const Term& what = (*graph_)[term];
  std::vector<std::string> operands;
  for (const int operand : what.operands) operands.push_back(of(operand));
  const auto call = [&](const char* function) { return fmt::format("{}({})", function, fmt::join(operands, ", ")); };
  switch (what.kind) {
    case Term::Kind::constant:
      return constant(what.value);
    case Term::Kind::variable:
      break;
    case Term::Kind::unary:
    case Term::Kind::binary:
      return call(function_of(what.op));
    case Term::Kind::conjunction:
      return call("both");
    case Term::Kind::disjunction:
      return call("either");
    case Term::Kind::choice:
      return call("choose");
    case Term::Kind::member:
      return fmt::format("among({}, {{{}}})", operands.front(), fmt::join(operands.begin() + 1, operands.end(), ", "));
  }
  throw NotPackaged("a name without a value");
}

}  // namespace tune::package
