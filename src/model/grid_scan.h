#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/space.h"

namespace tune {

/// Goes through the grid in mesh order and yields the valid specs. It counts what pruned the others: one count per
/// reason, in order of first appearance.
class GridScan {
 public:
  struct Pruned {
    std::string reason;
    std::int64_t count = 0;
    std::int64_t first_mesh_idx = 0;
  };

  /// A grid of up to this many points is scanned in no noticeable time.
  static constexpr std::int64_t kShort = 1'000'000;

  explicit GridScan(const Space& space) : space_(&space) {}
  std::optional<Spec> next();
  /// The mesh_idx after the last point that was looked at.
  std::int64_t position() const { return position_; }
  /// Points at which an expression cannot be evaluated for the same cause count together, under the reason of the
  /// first.
  const std::vector<Pruned>& pruned() const { return pruned_; }

 private:
  /// Which row of pruned_ counts the failures of a step.
  struct Tally {
    std::uint32_t mapping;
    std::size_t step;
    const char* what;  ///< of an EvalFailure
    std::size_t row;
  };

  const Space::Grid& grid() const { return space_->grids_[point_.mapping]; }
  bool enter();
  std::optional<std::size_t> failing_step(EvalFailure& failure);
  void advance(int level);
  void turn(std::size_t parameter, std::uint32_t digit);
  std::size_t row_of(std::size_t step, const EvalFailure& failure);

  const Space* space_;
  std::int64_t position_ = 0;
  std::vector<Pruned> pruned_;
  std::vector<Tally> tallies_;
  Space::Point point_;  ///< the present point
  bool entered_ = false;
  std::vector<Value> slots_;
  std::vector<char> passed_;  ///< the steps that hold for the present values of their parameters
};

}  // namespace tune
