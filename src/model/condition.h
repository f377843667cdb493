#pragma once
#include <span>
#include <vector>

#include "model/bounds.h"
#include "model/row_set.h"
#include "model/terms.h"

namespace tune {

/// What a term must do.
struct Demand {
  int term = -1;
  bool holds = true;  ///< false: it need only have a value
};

/// How many ways to go on are all tried at once, which sees every two beginnings that are the same.
struct TableLimits {
  std::size_t rest = 32;     ///< after some variables
  std::size_t whole = 8192;  ///< at the start
};

/// One demand on variables that are given values one after the other. What is known of it in between is a state: two
/// beginnings that leave the same to be decided share one (as far as that is seen), so that states are few even where
/// beginnings are many. States are found as they are asked for.
class Condition {
 public:
  static constexpr std::uint32_t kFails = 0;  ///< whatever comes
  static constexpr std::uint32_t kHolds = 1;
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  /// `variables` are those of the term's support, in the order in which they are given; `values[i]` those that
  /// variables[i] may have. `terms` and the texts of values must outlive this.
  Condition(const Terms& terms, Demand demand, std::span<const int> variables, std::vector<std::vector<Cell>> values,
            TableLimits limits = {});

  std::uint32_t start() const { return start_; }

  /// The states after each of the values of variable `level`, kUnknown where that has not been asked for. Precondition:
  /// `state` is of this level, and not kFails. Valid until the next call for the level.
  const std::uint32_t* row(std::size_t level, std::uint32_t state);
  /// One that is unknown: the state after values[level][value].
  std::uint32_t follow(std::size_t level, std::uint32_t state, std::size_t value);
  /// Whether rows of this level are known as a whole, at little cost.
  bool is_table(std::size_t level) const { return level >= table_from_; }

 private:
  /// One operation; registers hold the values of terms.
  struct Step {
    const Term* term;
    Op op;
    std::uint32_t result;
    std::uint32_t first, second;  ///< operands, if they are two
    std::vector<std::uint32_t> operands;
  };
  /// The time before variable `i` has a value.
  struct Level {
    std::uint32_t variable = 0;       ///< its register
    std::vector<Step> steps;          ///< what can be computed once it has one
    std::vector<std::uint32_t> live;  ///< registers that are set before and still needed
    Bounds bounds;                    ///< of the variable's values
    std::size_t rest = 1;             ///< ways to give values to this and all later variables
    RowSet states;                    ///< without kFails and kHolds
    std::vector<std::uint32_t> next;  ///< states x values; kUnknown: not yet followed
  };

  void compile(const Terms& terms, std::span<const int> variables);
  void set(std::size_t level, std::size_t value);
  bool run_integers(const Step& step);
  void run(const Step& step);
  void fill_row(std::size_t level, std::uint32_t state, std::uint32_t* next);
  bool satisfied() const;
  std::uint32_t present_state(std::size_t level);
  std::optional<bool> foresee(std::size_t level);
  void tabulate(std::size_t level);
  std::uint32_t intern(std::size_t level, const std::uint32_t* row);

  Demand demand_;
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
  std::vector<std::uint32_t> always_;
  std::uint32_t start_ = kFails;
};

}  // namespace tune
