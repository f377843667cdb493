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
  /// `threads`: the ids of all of them, the process's first thread in front. That one may run on every core, because
  /// threads that it starts inherit its cores; the judge, which is this thread, makes room for it. The others may run
  /// on one core each as long as this object lives. That is some microseconds, or milliseconds if one of them takes the
  /// judge's core first; what such a thread starts in that time stays on its core.
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
