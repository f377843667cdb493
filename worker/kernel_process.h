#pragma once
#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "base/descendants.h"
#include "clock_check.h"
#include "kernel_room.h"
#include "run_delay.h"

namespace tune::worker {

/// The process that a kernel runs in, seen from its judge. It is another execution of our own program, and inherits
/// nothing but the room and stderr. Between launches all its threads are stopped: what they have not done when a launch
/// returns is missing. Where it ends by itself, so do we, in the same way, unless more is known than that: the driver
/// sees how a kernel ended.
class KernelProcess {
 public:
  /// `hidden` is a file that the process must not be able to read; empty: none. `room` outlives this.
  KernelProcess(KernelRoom& room, const std::filesystem::path& hidden);
  ~KernelProcess();
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;

  /// Loads the kernel. Returns what is to be known of it: remarks, one a line. Throws Refusal, and as launch does.
  std::string load();
  /// Throws OutOfMemory, or std::runtime_error with what the kernel throws. `foul_heap`: memory that the kernel takes
  /// from the heap holds NaN then, which takes time.
  TimedLaunch launch(std::uint32_t addresses, bool foul_heap);
  /// Lets it go on for a while without a launch.
  void rest();
  /// Whether a launch has left another rounding mode or the like than it found.
  bool changed_arithmetic() const;
  /// How far the clocks of an honest process may lie apart: from launches of nothing, before the kernel is loaded.
  double allowance();
  /// Throws Refusal if anything has happened to the process since the last launch.
  void require_stopped();
  /// Kills what the kernel has started outside its process, which no stop reaches: others are measured while we wait.
  void end_what_it_started() const;

 private:
  double carry_out(KernelNotes::Command command);
  void await_turn(std::uint32_t turns);
  void stop();
  [[noreturn]] void end_with(const siginfo_t& end);
  void throw_what_it_threw() const;

  KernelRoom& room_;
  Stage stage_ = Stage::load;
  pid_t process_ = 0;  ///< 0: it has ended
  base::StartedChild started_;
  std::uint32_t turns_ = 0;  ///< that it has taken
  RunDelay its_delay_, our_delay_;
};

}  // namespace tune::worker
