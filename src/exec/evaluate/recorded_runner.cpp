#include "exec/evaluate/recorded_runner.h"

#include <algorithm>

namespace tune::exec {

// Recorded trials are handed out before many more specs are asked for, because they are there already.
int RecordedRunner::free_slots() const {
  const int left = order_.most_out - static_cast<int>(answered_.size());
  if (inner_ == nullptr) return left;
  return answered_.empty() ? inner_->free_slots() : std::min(left, inner_->free_slots());
}

void RecordedRunner::start(const Spec& spec) {
  if (auto trial = lookup_(spec)) {
    trial->recorded = true;
    answered_.emplace(order_.place ? order_.place(spec) : 0, std::move(*trial));
    return;
  }
  if (inner_ == nullptr) {
    inner_ = &make_runner_();
    if (best_) inner_->set_best(*best_, best_seconds_, best_joules_);
  }
  inner_->start(spec);
}

std::optional<Trial> RecordedRunner::wait(Clock::time_point until) {
  if (answered_.empty()) return inner_->wait(until);
  return std::move(answered_.extract(answered_.begin()).mapped());
}

void RecordedRunner::set_best(const Trial& best, double seconds, double joules) {
  best_ = best;
  best_seconds_ = seconds;
  best_joules_ = joules;
  if (inner_ != nullptr) inner_->set_best(best, seconds, joules);
}

Activity RecordedRunner::activity() const { return inner_ == nullptr ? Activity{} : inner_->activity(); }

}  // namespace tune::exec
