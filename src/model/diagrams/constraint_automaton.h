#pragma once
#include <span>
#include <vector>

#include "model/diagrams/interval_bounds.h"
#include "model/diagrams/row_set.h"
#include "model/expression/expression_graph.h"

namespace tune {

/// One operation of a term that is computed step by step; registers hold the values of its parts.
struct TermStep {
  const Term* term;
  std::uint32_t result;
  std::uint32_t first, last;  ///< of the operands
  std::vector<std::uint32_t> operands;
};

/// What is required of a term.
struct Requirement {
  int term = -1;
  bool must_be_true = true;  ///< false: the term need only have a value
};

/// How much may still be computed, roughly in operations.
struct WorkBudget {
  struct Exhausted {};
  std::int64_t left = std::int64_t{1} << 28;
  /// Throws Exhausted.
  void spend(std::size_t operations) {
    left -= static_cast<std::int64_t>(operations);
    if (left < 0) throw Exhausted();
  }
};

/// Limits on truth tables, which list the outcome for all values of the remaining variables. They identify all equal
/// states.
struct TableLimits {
  std::size_t rest = 32;     ///< the largest number of rows after some variables are assigned
  std::size_t whole = 8192;  ///< the same before the first variable is assigned
};

/// A requirement as an automaton that reads the values of its variables one after the other. Partial assignments after
/// which the same remains to be decided share a state, as far as this is recognised, so that there are few states even
/// for many assignments. States are computed when they are first asked for.
class ConstraintAutomaton {
 public:
  static constexpr std::uint32_t kRejects = 0;  ///< whatever values follow
  static constexpr std::uint32_t kAccepts = 1;
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  /// `variables` are those of the term's support, in the order in which they are read; `values[i]` are the values that
  /// variables[i] may have. `terms` and the texts of values must outlive this.
  ConstraintAutomaton(const ExpressionGraph& terms, Requirement requirement, std::span<const int> variables,
                      std::vector<std::vector<Cell>> values, TableLimits limits = {});

  std::uint32_t start() const { return start_; }

  /// The states after each value of variable `level`; kUnknown where follow() was not called yet. Precondition:
  /// `state` is of this level, and neither kRejects nor kAccepts. Valid until the next call for the level.
  const std::uint32_t* row(std::size_t level, std::uint32_t state, WorkBudget& budget);
  /// Computes an unknown entry of the row: the state after values[level][value].
  std::uint32_t follow(std::size_t level, std::uint32_t state, std::size_t value, WorkBudget& budget);
  /// Precondition: there is one variable.
  bool satisfied_by(std::size_t value);
  /// Whether rows of this level come from a truth table, which costs little.
  bool is_table(std::size_t level) const { return level >= table_from_; }

 private:
  /// The situation before variable `i` is read.
  struct Level {
    std::uint32_t variable = 0;       ///< its register
    std::vector<TermStep> steps;      ///< what can be computed once it is read
    std::vector<std::uint32_t> live;  ///< registers that were set earlier and are still needed
    Bounds bounds;                    ///< of the variable's values
    std::size_t steps_to_end = 0;     ///< steps of this and all later levels
    std::size_t rest = 1;             ///< the number of assignments of this and all later variables
    RowSet states;                    ///< without kRejects and kAccepts
    std::vector<std::uint32_t> next;  ///< states x values; kUnknown: not yet followed
  };

  void restore(std::size_t level, std::uint32_t state);
  void know_bounds(std::size_t level);
  void bound_steps(std::size_t level);
  std::optional<bool> foreseen() const;
  void compile(const ExpressionGraph& terms, std::span<const int> variables);
  void set(std::size_t level, std::size_t value);
  bool run_integers(const TermStep& step);
  void run(const TermStep& step);
  bool foresees(std::size_t level) const;
  std::size_t cost(std::size_t level) const;
  void fill_row(std::size_t level, std::uint32_t state, std::uint32_t* next);
  bool satisfied() const;
  std::uint32_t present_state(std::size_t level);
  std::optional<bool> foresee(std::size_t level);
  void tabulate(std::size_t level);
  void add_bit(bool met);
  std::uint32_t intern(std::size_t level, const std::uint32_t* row);

  Requirement requirement_;
  std::vector<std::vector<Cell>> values_;
  std::vector<Level> levels_;   ///< one per variable
  std::size_t table_from_ = 0;  ///< from this level on, states are truth tables
  std::vector<Computed> registers_;
  std::uint32_t root_ = 0;
  std::vector<Bounds> bounds_;  ///< of the present or future contents of the registers
  std::vector<const Computed*> operands_;
  std::vector<const Bounds*> bounds_operands_;
  std::vector<std::uint32_t> row_;
  std::size_t bits_ = 0;
  std::uint32_t start_ = kRejects;
};

}  // namespace tune
