#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>

#include "clock_check.h"
#include "kernel_room.h"

namespace tune {

/// The process that a kernel runs in, seen from its judge. It is another execution of our own program, and inherits
/// nothing but the room and stderr. Between launches all its threads are stopped: what they have not done when a launch
/// returns is missing. Where it ends by itself, so do we, in the same way: the driver sees how a kernel ended.
class KernelProcess {
 public:
  /// `hidden` is a file that the process must not be able to read; empty: none. `room` outlives this.
  KernelProcess(KernelRoom& room, const std::filesystem::path& hidden);
  ~KernelProcess();
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;

  /// Loads the kernel. Returns what is to be known of it: remarks, one a line. Throws Refusal.
  std::string load();
  /// Throws std::runtime_error with what the kernel throws.
  TimedLaunch launch(std::uint32_t addresses);
  /// How long it takes us to see that it has begun and ended: the upper quartile of a few launches of nothing. Only
  /// before the kernel is loaded, which could make them last.
  double gap();
  /// Threads, as far as they can run at the same time: each of them has to be stopped.
  int threads() const;
  /// Throws Refusal if anything has happened to the process since the last launch.
  void require_stopped() const;

 private:
  double carry_out(KernelNotes::Command command);
  void await_stop(std::uint32_t turns) const;

  KernelRoom& room_;
  pid_t process_ = 0;
};

}  // namespace tune
