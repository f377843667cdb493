#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/expression/cell.h"
#include "model/expression/code.h"
#include "model/expression/expression.h"

namespace tune {

/// A value, or why there is none.
struct Computed {
  Cell cell{};
  Fault fault = nullptr;
  bool holds() const { return !fault && truth(cell); }
};

/// A part of an expression. What it is made of stands before it.
struct Term {
  enum class Kind : std::uint8_t { constant, variable, unary, binary, conjunction, disjunction, choice, member };
  Kind kind = Kind::constant;
  Op op = Op::load;           ///< unary, binary
  int variable = -1;          ///< variable
  Computed value{};           ///< constant
  std::vector<int> operands;  ///< choice: condition, then, else; member: what is looked for, elements
  std::vector<int> support;   ///< sorted: the variables it depends on
};

/// What a term is where its operands are these.
Computed combine(const Term& term, std::span<const Computed* const> operands);

/// Expressions over numbered variables as one graph: each part stands in it once, constants are folded, names stand for
/// other terms. Borrows texts from the expressions' constants and the values given.
class ExpressionGraph {
 public:
  int constant(const Value& value);
  int variable(int index);
  /// `meaning[slot]` is the term that the slot's name stands for.
  int add(const Expression& expression, std::span<const int> meaning);
  /// `left and right`.
  int both(int left, int right);
  /// ExpressionGraph that all hold exactly where this one does (a failure counts as not holding).
  std::vector<int> conjuncts(int term);

  const Term& operator[](int term) const { return terms_[static_cast<std::size_t>(term)]; }

 private:
  class Reader;
  int intern(Term term);
  int folded(Term term);
  int negation(int term);

  std::vector<Term> terms_;
  std::unordered_map<std::string, int> known_;
};

}  // namespace tune
