#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>

#include "base/descendants.h"
#include "clock_check.h"
#include "kernel_room.h"
#include "run_delay.h"

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
  /// How far the clocks of an honest process may lie apart: from launches of nothing, before the kernel is loaded.
  double allowance();
  /// Throws Refusal if anything has happened to the process since the last launch.
  void require_stopped() const;
  /// Kills what the kernel has started outside its process, which no stop reaches: others are measured while we wait.
  void end_what_it_started() const;

 private:
  double carry_out(KernelNotes::Command command);
  void await_turn(std::uint32_t turns);
  void stop() const;

  KernelRoom& room_;
  pid_t process_ = 0;
  StartedChild started_;
  std::uint32_t turns_ = 0;  ///< that it has taken
  RunDelay its_delay_, our_delay_;
};

}  // namespace tune
