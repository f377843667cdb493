#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/values/names.h"
#include "model/values/value.h"

/// Expressions of tuning files as other modules see them: parsed once, evaluated at many points.
namespace tune {

/// The text is not an expression, or uses an unknown name. `column` is 0-based in the text.
/// Examples of what(): `unknown name 'BMM', did you mean 'BM'?` or `expected ')' before end`.
class ExpressionError : public std::runtime_error {
 public:
  ExpressionError(std::size_t column, const std::string& cause, const std::string& advice = "")
      : std::runtime_error(cause + advice), column_(column), cause_(cause), advice_(advice) {}
  std::size_t column() const { return column_; }
  const std::string& cause() const { return cause_; }
  /// What follows the cause in what(), such as `, did you mean 'BM'?`; empty if there is none.
  const std::string& advice() const { return advice_; }

 private:
  std::size_t column_;
  std::string cause_, advice_;
};

/// A name that is not declared is used as a value.
class UnknownName : public ExpressionError {
 public:
  UnknownName(std::size_t column, const std::string& name, const std::string& advice)
      : ExpressionError(column, "unknown name '" + name + "'", advice), name_(name) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// Why an expression has no value at a point: the number of the operation that failed, and what went wrong.
struct EvalFailure {
  const char* what = nullptr;  ///< "division by zero", "overflow", "... is not a number"; null: no failure
  std::int32_t op = -1;        ///< which operation; for Expression::explain
  explicit operator bool() const { return what != nullptr; }
};

struct Code;

/// A parsed Python-like expression: + - * / // % **, comparisons (chained too), and or not in, a if c else b,
/// subscripts, literals (numbers, 'text', True, False, lists and tuples after `in`), min max abs ceil_div.
/// Integers have 64 bits. Overflow and division by zero are failures at that point, never undefined behaviour.
/// and/or/if evaluate only the operands that they need. Names may be dotted (`device.cores`). Immutable, cheap to copy.
class Expression {
 public:
  /// Throws ExpressionError.
  static Expression parse(std::string_view text, const Names& names);

  /// The value at a point; `slots[i]` is the value of the name with slot i, and only the slots in used_slots() are
  /// read. On failure returns an unspecified value and sets `failure`.
  Value evaluate(std::span<const Value> slots, EvalFailure& failure) const;
  /// Python's truth of the value. False on failure.
  bool holds(std::span<const Value> slots, EvalFailure& failure) const;
  /// The value as a non-boolean number or integer; a value of another kind is a failure.
  std::int64_t integer(std::span<const Value> slots, EvalFailure& failure) const;
  double number(std::span<const Value> slots, EvalFailure& failure) const;

  /// `division by zero at BK=0`: the failure with the values it depends on.
  std::string explain(const EvalFailure& failure, std::span<const Value> slots) const;

  /// Sorted slots of the names the expression uses.
  std::span<const int> used_slots() const;
  const std::string& text() const;
  /// The instructions, for code that transforms them further.
  const Code& code() const;

 private:
  struct Program;
  std::shared_ptr<const Program> program_;
};

}  // namespace tune
