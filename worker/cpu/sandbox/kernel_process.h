#pragma once
#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <string>

#include "cpu/sandbox/kernel_shared_memory.h"
#include "measuring/clock_check.h"
#include "platform/process/run_delay.h"

namespace tune::worker {

/// The process that a kernel runs in, as its judge sees it. It executes our own program once more, and inherits nothing
/// but the shared memory and stderr, and can start threads, but no processes. Between launches all its threads are
/// stopped: work that is unfinished then is missing from the result, and what they do until then counts as time of the
/// launch. If the process ends by itself, this process ends in the same way (unless a better message is known), so that
/// the driver sees how the kernel ended.
class KernelProcess {
 public:
  /// `shared` outlives this.
  explicit KernelProcess(KernelSharedMemory& shared);
  ~KernelProcess();
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;

  /// Loads the kernel. Returns remarks on it, one per line. Throws SpecFailure, and what `launch` throws.
  std::string load();
  /// Throws OutOfMemory, or std::runtime_error with the text of what the kernel throws. With `foul_heap`, memory that
  /// the kernel takes from the heap is filled with NaNs first, which takes time.
  TimedLaunch launch(std::uint32_t addresses, bool foul_heap);
  /// Launches this often, without a pause, as `launch` did last.
  void launch_again(std::int64_t count);
  pid_t id() const { return process_; }
  /// Reads all pages of the buffers, so that no launch has to wait for them.
  void touch();
  /// Lets the process run for a while without a launch.
  void rest();
  /// Whether a launch has returned with a changed floating-point environment, such as another rounding mode.
  bool changed_arithmetic() const;
  /// How many seconds the two clocks of an honest process may differ by. It is measured with empty commands, before the
  /// kernel is loaded.
  double allowance();
  /// The same, if they differ by so many seconds, waiting for cores aside.
  double allowance(double difference) const;
  /// How many seconds more they may differ by because all of the process's threads have to be stopped.
  double allowance_for_threads() const;
  /// Computes for so many seconds, as a kernel would.
  TimedLaunch compute(double seconds);
  /// Throws SpecFailure if anything has happened to the process since the last launch.
  void require_stopped();

 private:
  TimedLaunch carry_out(KernelNotes::Command command);
  double claimed() const;
  void await_turn(std::uint32_t turns);
  void stop();
  [[noreturn]] void end_with(const siginfo_t& end);
  void throw_what_it_threw() const;

  KernelSharedMemory& shared_;
  Stage stage_ = Stage::load;
  pid_t process_ = 0;        ///< 0: it has ended
  std::uint32_t turns_ = 0;  ///< how many commands it has carried out
  clockid_t its_time_{};     ///< what all its threads have computed
  platform::RunDelay its_delay_, our_delay_;
  platform::ThreadDelays thread_delays_;
};

/// By how many seconds the clocks of a judge and of an honest process differ now.
struct Disturbance {
  double wait = 0;       ///< at most, because either waits for a core
  double allowance = 0;  ///< for all other reasons, see KernelProcess::allowance
};

/// What disturbs a process like a kernel's, but without one, that computes for so many seconds in each of the trials,
/// of which there is at least one, with `work` before each.
Disturbance disturbance_without_kernel(std::size_t trials, double seconds, const std::function<void()>& work);

}  // namespace tune::worker
