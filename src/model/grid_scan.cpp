#include "model/grid_scan.h"

#include <algorithm>
#include <limits>

namespace tune {

std::optional<Spec> GridScan::next() {
  while (point_.mapping < space_->grids_.size()) {
    if (!entered_ && !enter()) continue;
    const std::int64_t here = position_;
    EvalFailure failure;
    const auto step = failing_step(failure);
    if (!step) {
      Spec spec = space_->make_spec(point_, here);
      advance(static_cast<int>(point_.digits.size()) - 1);
      return spec;
    }
    const std::size_t row = row_of(*step, failure);
    // All points with the same values of the parameters on which the steps so far depend fail here too.
    advance(grid().steps[*step].reach);
    pruned_[row].count += position_ - here;
  }
  return std::nullopt;
}

/// Goes to the first point of the mapping. If it has none, goes on to the next mapping and returns false.
bool GridScan::enter() {
  const std::vector<Parameter>& parameters = space_->mappings_[point_.mapping].parameters;
  if (grid().strides[0] == 0) {
    ++point_.mapping;
    return false;
  }
  slots_ = space_->fixed_;
  point_.digits.assign(parameters.size(), 0);
  passed_.assign(grid().steps.size(), 0);
  for (std::size_t i = 0; i < parameters.size(); ++i) turn(i, 0);
  entered_ = true;
  return true;
}

void GridScan::turn(std::size_t parameter, std::uint32_t digit) {
  point_.digits[parameter] = digit;
  slots_[static_cast<std::size_t>(grid().slots[parameter])] =
      space_->mappings_[point_.mapping].parameters[parameter].values[digit];
}

std::optional<std::size_t> GridScan::failing_step(EvalFailure& failure) {
  const std::vector<Space::Step>& steps = grid().steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (passed_[i]) continue;
    if (!steps[i].passes(slots_, failure)) return i;
    passed_[i] = 1;
  }
  return std::nullopt;
}

/// Goes to the next point at which the parameter `level`, or one before it, has another value. The parameters after it
/// take their first values.
void GridScan::advance(int level) {
  const auto stride = grid().strides[static_cast<std::size_t>(level) + 1];
  if (!stride || __builtin_add_overflow(position_, *stride, &position_)) {
    position_ = std::numeric_limits<std::int64_t>::max();
    point_.mapping = static_cast<std::uint32_t>(space_->grids_.size());
    return;
  }
  for (; level >= 0; --level) {
    const auto parameter = static_cast<std::size_t>(level);
    const std::uint32_t digit = point_.digits[parameter] + 1;
    const bool carry = digit == space_->mappings_[point_.mapping].parameters[parameter].values.size();
    turn(parameter, carry ? 0 : digit);
    if (!carry) break;
  }
  if (level < 0) {
    ++point_.mapping;
    entered_ = false;
    return;
  }
  for (std::size_t i = 0; i < passed_.size(); ++i) {
    if (grid().steps[i].depth >= level) passed_[i] = 0;
  }
}

/// The row of pruned_ that counts this failure; it is created if there is none.
std::size_t GridScan::row_of(std::size_t step, const EvalFailure& failure) {
  for (const Tally& tally : tallies_) {
    if (tally.mapping == point_.mapping && tally.step == step && tally.what == failure.what) return tally.row;
  }
  const std::string reason = grid().steps[step].rejection(failure, slots_);
  const auto same = [&](const Pruned& pruned) { return pruned.reason == reason; };
  const auto row = static_cast<std::size_t>(std::find_if(pruned_.begin(), pruned_.end(), same) - pruned_.begin());
  if (row == pruned_.size()) pruned_.push_back({reason, 0, position_});
  tallies_.push_back({point_.mapping, step, failure.what, row});
  return row;
}

}  // namespace tune
