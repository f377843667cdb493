#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/files/descriptor.h"

namespace tune::platform {

/// How long a thread has had to wait for a core, and has had one, all in all, as the system counts it.
class RunDelay {
 public:
  RunDelay() = default;
  /// `file` is the thread's schedstat in /proc.
  explicit RunDelay(const std::string& file);

  bool is_known() const;
  /// 0 where the system does not say.
  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds()); }
  std::uint64_t nanoseconds() const { return read().waiting; }
  /// How long it has had a core; 0 where the system does not say.
  double ran_seconds() const { return 1e-9 * static_cast<double>(read().running); }

  struct Times {
    unsigned long long running = 0, waiting = 0;  ///< nanoseconds
  };
  Times read() const;

 private:
  Descriptor file_;
};

/// RunDelay of the thread that calls it, in seconds.
double delay_of_this_thread();

/// How long the threads of a process have had to wait for a core, each by itself.
class ThreadDelays {
 public:
  ThreadDelays() = default;
  explicit ThreadDelays(pid_t process) : process_(process) {}

  /// How long all present threads but the first have waited since the last call or their begin; seconds.
  double others_since_last();
  /// The ids of all threads that were there then, the first one's in front.
  std::vector<pid_t> threads() const;

 private:
  struct Thread {
    RunDelay delay;
    std::uint64_t last = 0;  ///< nanoseconds
  };
  void list();

  pid_t process_ = 0;
  std::uintmax_t count_ = 0;  ///< of threads when they were last listed
  std::map<pid_t, Thread> threads_;
};

}  // namespace tune::platform
