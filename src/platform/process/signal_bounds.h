#pragma once
#include <sys/types.h>

#include <utility>
#include <vector>

#include "platform/process/call_filter.h"

namespace tune::platform {

/// Keeps a process from signalling others, and from changing their limits, priorities and cores. For signals, where the
/// system has Landlock's signal scope (Linux 6.12), it and what it starts can signal each other, and nothing else.
/// Elsewhere a filter of system calls (seccomp) stands in for that, which knows processes by number only: see its two
/// forms. For the rest there is only such a filter.
class SignalBounds {
 public:
  /// For a process that starts no others: the filter lets it signal and control itself alone. The cores of other
  /// processes are out of its reach only if these are `spared`, because threads are told to the system by numbers too.
  static SignalBounds of_this_process(const std::vector<pid_t>& spared);
  /// For what starts others, whose numbers nobody knows yet: the filter spares these processes, but not their threads
  /// by number, and these groups, which it cannot join either; and it refuses signals to one's own group by number 0.
  static SignalBounds sparing(const std::vector<pid_t>& processes, const std::vector<pid_t>& groups);

  /// Applies the bounds to this thread and to what it starts from now on; they cannot be lifted. From then on a program
  /// with more rights than the user's (sudo) does not get them, unless the user is root. May be called between fork and
  /// exec. What the system has no means for is left out.
  void enter() const;

 private:
  SignalBounds(CallFilter signals, CallFilter control) : signals_(std::move(signals)), control_(std::move(control)) {}

  CallFilter signals_, control_;
};

}  // namespace tune::platform
