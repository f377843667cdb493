#pragma once
#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace tune::worker {

/// Sees to it that the threads of a stopped process start on different cores when it is continued, if there are as many
/// cores as threads, and none of them has chosen its cores itself. The system avoids the core on which the judge runs
/// at that moment, and would let two of them share another one for some milliseconds. Where they spin, a launch takes
/// as long as that.
class OwnCores {
 public:
  /// `threads`: the ids of all of them, the process's first thread in front. As long as this object lives, which is
  /// some microseconds, or a launch if the first thread puts the judge aside, each may run on one core; what it starts
  /// in that time stays there. The judge, which is this thread, shares the core of the first one: it leaves that when
  /// it waits for the result, and finds it free as soon as there is one, while others may still spin on theirs.
  explicit OwnCores(std::vector<pid_t> threads);
  ~OwnCores();
  OwnCores(const OwnCores&) = delete;
  OwnCores& operator=(const OwnCores&) = delete;

 private:
  bool applies_to(const std::vector<pid_t>& threads);

  cpu_set_t all_{};             ///< the cores of this process
  std::vector<pid_t> limited_;  ///< threads; 0 is this one
};

}  // namespace tune::worker
