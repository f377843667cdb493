#pragma once
#include <functional>

#include "gpu/gpu_helpers.h"

namespace tune::worker {

/// Times launches by events around them. Until all that is to be timed is queued, a kernel of one thread holds the
/// device, so that no time of the host lies between the events and the device does not idle, which would make what
/// follows slower (after 5 ms of idleness a product of 4096^3 took an H200 220 us instead of 176).
class GpuStopwatch {
 public:
  struct Reading {
    double seconds = 0;
    double clock_hz = 0;       ///< of a multiprocessor, its mean while the launch ran; 0: too short, or not told
    double idle_clock_hz = 0;  ///< the same just before, while the device was held
    bool late = false;         ///< the host queued so slowly that some of its time may lie between the events
  };

  /// Both outlive this. Throws GpuError.
  GpuStopwatch(const Gpu& gpu, const GpuHelpers& helpers);

  /// `launch` queues `kernels` kernels and does not wait. Throws GpuError with a kernel's fault.
  Reading time(const std::function<void()>& launch, std::int64_t kernels);
  /// The same for what is launched for the first time, when the driver may wait for the device to load its code: the
  /// device is not held for it.
  Reading time_first(const std::function<void()>& launch);

  /// Lets the device begin when all of this is queued.
  void queue(const std::function<void()>& work);

  /// Launches that many times without a pause, and waits. Returns the seconds that the device took.
  double run(const std::function<void()>& launch, std::int64_t count);

  /// Keeps the device awake, at next to no power, for this many seconds. Returns a multiprocessor's clock in Hz.
  double rest(double seconds);

 private:
  void hold(double least, double most);
  Reading finish();

  const Gpu* gpu_;
  const GpuHelpers* helpers_;
  HostFlag go_;
  DeviceMemory watch_;
  GpuEvent start_, stop_;
};

}  // namespace tune::worker
