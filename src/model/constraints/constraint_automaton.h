#pragma once
#include <span>
#include <vector>

#include "model/constraints/interval_bounds.h"
#include "model/constraints/row_set.h"
#include "model/expression/batch_evaluator.h"
#include "model/expression/expression_graph.h"

namespace tune {

/// What a term must do.
struct Requirement {
  int term = -1;
  bool holds = true;  ///< false: it need only have a value
};

/// How much may still be computed, in operations or so.
struct WorkBudget {
  struct Exhausted {};
  std::int64_t left = std::int64_t{1} << 29;
  /// Throws Exhausted.
  void spend(std::size_t operations) {
    left -= static_cast<std::int64_t>(operations);
    if (left < 0) throw Exhausted();
  }
};

/// How many ways to go on are all tried at once, which sees every two beginnings that are the same.
struct TableLimits {
  std::size_t rest = 32;     ///< after some variables
  std::size_t whole = 8192;  ///< at the start
  std::size_t wide = 64;     ///< more values than this of the last variable are looked at in runs
};

/// One requirement on variables that are given values one after the other. What is known of it in between is a state:
/// two beginnings that leave the same to be decided share one (as far as that is seen), so that states are few even
/// where beginnings are many. States are found as they are asked for. A last variable of many values is not gone
/// through value by value: ranges of values after which the requirement is met everywhere or nowhere are found by
/// halving.
class ConstraintAutomaton {
 public:
  static constexpr std::uint32_t kFails = 0;  ///< whatever comes
  static constexpr std::uint32_t kHolds = 1;
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  /// Values [end of the one before, end) of a variable after which the state is the same.
  struct Run {
    std::uint32_t end;
    std::uint32_t state;
  };

  /// `variables` are those of the term's support, in the order in which they are given; `values[i]` those that
  /// variables[i] may have. `terms` and the texts of values must outlive this.
  ConstraintAutomaton(const ExpressionGraph& terms, Requirement requirement, std::span<const int> variables,
                      std::vector<std::vector<Cell>> values, TableLimits limits = {});

  std::uint32_t start() const { return start_; }

  /// Whether to ask for runs() of this level, else for row().
  bool is_wide(std::size_t level) const { return level == wide_; }

  /// The states after each of the values of variable `level`, kUnknown where that has not been asked for. Precondition:
  /// `state` is of this level, and neither kFails nor kHolds. Valid until the next call for the level.
  const std::uint32_t* row(std::size_t level, std::uint32_t state, WorkBudget& budget);
  /// One that is unknown: the state after values[level][value].
  std::uint32_t follow(std::size_t level, std::uint32_t state, std::size_t value, WorkBudget& budget);
  /// The same for all values, ascending. Precondition: as of row().
  std::span<const Run> runs(std::size_t level, std::uint32_t state, WorkBudget& budget);
  /// Precondition: there is one variable.
  bool satisfied_by(std::size_t value);
  /// Whether rows of this level are known as a whole, at little cost.
  bool is_table(std::size_t level) const { return level >= table_from_; }

 private:
  /// The time before variable `i` has a value.
  struct Level {
    std::uint32_t variable = 0;       ///< its register
    std::vector<TermStep> steps;      ///< what can be computed once it has one
    std::vector<std::uint32_t> live;  ///< registers that are set before and still needed
    Bounds bounds;                    ///< of the variable's values
    std::size_t steps_to_end = 0;     ///< steps of this and all later levels
    std::size_t rest = 1;             ///< ways to give values to this and all later variables
    RowSet states;                    ///< without kFails and kHolds
    std::vector<std::uint32_t> next;  ///< states x values; kUnknown: not yet followed
  };

  void restore(std::size_t level, std::uint32_t state);
  void make_columns();
  void make_halves(std::size_t first, std::size_t count, std::size_t half);
  void add_runs(std::size_t first, std::size_t count, std::size_t half, WorkBudget& budget);
  void add_run(std::size_t end, bool holds);
  void know_bounds(std::size_t level);
  void bound_steps(std::size_t level);
  std::optional<bool> foreseen() const;
  void compile(const ExpressionGraph& terms, std::span<const int> variables);
  void set(std::size_t level, std::size_t value);
  bool run_integers(const TermStep& step);
  void run(const TermStep& step);
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
  std::size_t table_from_ = 0;  ///< states are truth tables of the rest from this level on
  std::vector<Computed> registers_;
  std::uint32_t root_ = 0;
  std::vector<Bounds> bounds_;  ///< of what is in the registers, now or later
  std::vector<const Computed*> operands_;
  std::vector<const Bounds*> bounds_operands_;
  std::vector<std::uint32_t> row_;
  std::size_t bits_ = 0;
  std::uint32_t start_ = kFails;
  std::optional<BatchEvaluator> columns_;  ///< of the table, or of the wide level
  std::size_t wide_ = SIZE_MAX;            ///< the last level, if it has many values
  std::vector<Bounds> halves_;             ///< of its values, of their first half and second half, and so on: a heap
  std::vector<std::vector<Run>> runs_of_;  ///< of each of its states; empty: not yet asked for
  std::vector<Run> runs_;                  ///< those that are being found
};

}  // namespace tune
