#include "exec/replay_runner.h"

namespace tune {

// One answer at a time: the caller tells each to its strategy before it asks for more.
int ReplayRunner::free_slots() const {
  if (!answered_.empty()) return 0;
  return inner_ == nullptr ? 1 : inner_->free_slots();
}

void ReplayRunner::start(const Spec& spec) {
  if (auto trial = lookup_(spec)) {
    trial->recorded = true;
    answered_.push_back(std::move(*trial));
    return;
  }
  if (inner_ == nullptr) {
    inner_ = &make_runner_();
    if (best_) inner_->set_best(*best_, best_seconds_, best_joules_);
  }
  inner_->start(spec);
}

std::optional<Trial> ReplayRunner::wait(Clock::time_point until) {
  if (answered_.empty()) return inner_->wait(until);
  Trial trial = std::move(answered_.front());
  answered_.pop_front();
  return trial;
}

void ReplayRunner::set_best(const Trial& best, double seconds, double joules) {
  best_ = best;
  best_seconds_ = seconds;
  best_joules_ = joules;
  if (inner_ != nullptr) inner_->set_best(best, seconds, joules);
}

Activity ReplayRunner::activity() const { return inner_ == nullptr ? Activity{} : inner_->activity(); }

}  // namespace tune
