#pragma once
#include <linux/filter.h>
#include <sys/types.h>

#include <vector>

namespace tune::base {

/// Keeps a process from signalling others. Where the system has Landlock's signal scope (Linux 6.12), it and what it
/// starts can signal each other, and nothing else. Elsewhere a filter of system calls (seccomp) stands in for that,
/// which knows processes by number only: see its two forms.
class SignalBounds {
 public:
  /// For a process that starts no others: the filter lets it signal itself alone.
  static SignalBounds of_this_process();
  /// For what starts others, whose numbers nobody knows yet: the filter spares these processes, but not their threads
  /// by number, and these groups, which it cannot join either; and it refuses signals to one's own group by number 0.
  static SignalBounds sparing(const std::vector<pid_t>& processes, const std::vector<pid_t>& groups);

  /// Applies the bounds to this thread and to what it starts from now on; they cannot be lifted. From then on a program
  /// with more rights than the user's (sudo) does not get them, unless the user is root. May be called between fork and
  /// exec. Returns false if the system has neither mechanism.
  bool enter() const;

 private:
  explicit SignalBounds(std::vector<sock_filter> filter) : filter_(std::move(filter)) {}

  std::vector<sock_filter> filter_;
};

}  // namespace tune::base
