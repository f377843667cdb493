#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/gpu_memory.h"
#include "gpu/gpu_stopwatch.h"
#include "measuring/power_states.h"

namespace tune::worker {

/// Launches of one spec on the device. Each one that is timed has inputs of its own, writes to poisoned memory, and is
/// verified; all are timed in one power state.
class GpuTimer {
 public:
  /// What is launched: queues `kernels` kernels and does not wait. `bind` has it use the buffers where they are now.
  struct Subject {
    std::function<void()> launch;
    std::int64_t kernels = 1;
    std::function<void()> bind;
  };

  /// All outlive this.
  GpuTimer(const Gpu& gpu, const GpuHelpers& helpers, GpuMemory& memory, const Verifier& verifier);

  /// From now on, times this, and binds it. The buffers must be laid.
  void use(Subject subject, bool cold_cache);
  void set_state(PowerState state) { state_ = state; }
  PowerState state() const { return state_; }

  /// The first launch of code, whose time holds what loading it takes. Throws SpecFailure of the check stage, GpuError.
  double first();
  /// One more launch in the power state, in seconds. In `sustained`, the device is loaded for `load` seconds before.
  /// Throws as first().
  double next(double load = SteadyLoad::kBeforeLaunch);
  /// A time for the finals, in seconds: that of one launch, or in `sustained` the mean of several. Throws as first().
  double sample();
  /// Brings the device into the power state: wakes it, or loads it. `busy` is for how many seconds it has just worked.
  void enter_state(double busy = 0);
  /// Whether that needs nothing: the device has hardly idled since our last launch, or since it last worked for us, and
  /// is in `burst`.
  bool is_awake() const;
  /// The device has worked until now, such as to verify what lies around the outputs.
  void note_work();

  /// The largest error of all launches so far, divided by its tolerance.
  double max_error() const { return max_error_; }
  /// The clock of the samples since the last call, or of the first launch if there were none, in MHz; 0 if it is not
  /// known.
  double take_clock_mhz();

  /// For each input a launch right behind the kernel that writes it, as GpuMemory::prepare_late() says, verified.
  /// Throws as first().
  void launch_late();
  /// Launches of which verify_last() verifies the last. Each has inputs of its own, or the last one alone.
  void launch_unverified(std::int64_t count, bool vary_each);
  /// Throws as first().
  void verify_last();

 private:
  using Reading = GpuStopwatch::Reading;
  void prepare();
  void launch() const;
  void launch_for_load();
  double verified(const Reading& reading);
  bool counts(const Reading& reading);

  GpuMemory* memory_;
  GpuStopwatch stopwatch_;
  BurstClock burst_;
  SteadyLoad load_;
  std::vector<Poison> patterns_;
  Subject subject_;
  bool cold_cache_ = true;
  PowerState state_ = PowerState::burst;
  std::size_t launches_ = 0;
  double last_ = 0;  ///< when the device had last done what we asked for
  double max_error_ = 0;
  std::vector<double> clocks_;
  double first_clock_mhz_ = 0;  ///< of the launch that is not a sample; 0: not known
};

}  // namespace tune::worker
