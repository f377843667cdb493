#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/expression/expression_graph.h"

namespace tune {

/// One operation of a term that is computed step by step; registers hold the values of its parts.
struct TermStep {
  const Term* term;
  std::uint32_t result;
  std::uint32_t first, last;  ///< of the operands
  std::vector<std::uint32_t> operands;
};

/// Evaluates a term at many points at once if all its parts are integers and booleans. Each operation is applied to a
/// whole column of values before the next one.
class BatchEvaluator {
 public:
  using Column = std::vector<std::int64_t>;

  /// A register whose value differs from point to point.
  struct Variable {
    std::uint32_t place;
    std::span<const Cell> values;  ///< one after the other, the last variable fastest
  };

  /// `samples` are examples of what the registers hold that no step computes. `steps` are all steps of the term in
  /// their order; those that depend on `variables` are computed here, at no more than `most` points at once. `steps`
  /// must outlive this. nullopt if there are other kinds of values than integers and booleans.
  static std::optional<BatchEvaluator> make(std::span<const Computed> samples, std::span<const TermStep* const> steps,
                                            std::span<const Variable> variables, std::uint32_t root, std::size_t most);
  BatchEvaluator(BatchEvaluator&&) = default;
  BatchEvaluator& operator=(BatchEvaluator&&) = default;

  /// The truth of the term at the points [first, first + count) for these values of the other registers; 0 is false.
  /// Null if a part has no value at some point, or is of another kind than its sample. Valid until the next call.
  const std::int64_t* truths(std::size_t first, std::size_t count, std::span<const Computed> registers);

 private:
  BatchEvaluator() = default;
  bool lay_out(std::span<const Variable> variables);
  bool is_fixed(std::uint32_t place) const;
  bool compute(const TermStep& step, std::size_t count);
  const std::int64_t* column(std::uint32_t place) const { return starts_[place]; }

  std::vector<Cell::Tag> tags_;              ///< of each register
  std::vector<Column> columns_;              ///< of each register that is used; else empty
  std::vector<const std::int64_t*> starts_;  ///< where the present points begin in them
  std::vector<std::uint32_t> variables_;
  std::vector<std::uint32_t> fixed_;  ///< the same at all points
  std::vector<const TermStep*> steps_;
  std::uint32_t root_ = 0;
};

}  // namespace tune
