#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/expression/cell.h"
#include "model/expression/code.h"
#include "model/expression/expression.h"

namespace tune {

/// A value, or the reason why there is none.
struct Computed {
  Cell cell{};
  Fault fault = nullptr;
  bool is_true() const { return !fault && truth(cell); }
};

/// A node of the graph: a part of an expression. Its operands precede it.
struct Term {
  enum class Kind : std::uint8_t { constant, variable, unary, binary, conjunction, disjunction, choice, member };
  Kind kind = Kind::constant;
  Op op = Op::load;           ///< unary, binary
  int variable = -1;          ///< variable
  Computed value{};           ///< constant
  std::vector<int> operands;  ///< choice: condition, then, else; member: what is looked for, elements
  std::vector<int> support;   ///< sorted: the variables it depends on
};

/// The value of a term from the values of its operands.
Computed combine(const Term& term, std::span<const Computed* const> operands);

/// Expressions over numbered variables as one directed acyclic graph: equal parts are one term, constants are folded,
/// and names stand for other terms. It borrows texts from the constants of the expressions and from the values given.
class ExpressionGraph {
 public:
  int constant(const Value& value);
  int variable(int index);
  /// `meaning[slot]` is the term that the slot's name stands for.
  int add(const Expression& expression, std::span<const int> meaning);
  /// `left and right`.
  int both(int left, int right);
  /// Terms that are all true exactly where this one is (a failure counts as false).
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
