#include "gpu/gpu_stopwatch.h"

#include <algorithm>

namespace tune::worker {
namespace {

constexpr double kLeastHold = 100e-6;  // seconds in which clocks can be read well enough
constexpr double kMostHold = 0.1;      // for a host that is that slow to queue its launches
constexpr double kPerKernel = 5e-6;    // a launch takes the host 2.5 us on a machine with an H200
constexpr std::int64_t kQueued = 256;  // kernels that fit the driver's queue for certain
constexpr double kLeastRun = 20e-6;    // seconds of a launch whose clock can be told
constexpr double kLeastTime = 1e-9;    // a clock that does not tick between two readings makes no launch free

double seconds_between(const gpu::Stamp& from, const gpu::Stamp& to) {
  return static_cast<double>(to.nanoseconds - from.nanoseconds) * 1e-9;
}

/// 0: not known.
double clock_between(const gpu::Stamp& from, const gpu::Stamp& to) {
  const double seconds = seconds_between(from, to);
  return seconds > 0 ? static_cast<double>(to.cycles - from.cycles) / seconds : 0;
}

}  // namespace

GpuStopwatch::GpuStopwatch(const Gpu& gpu, const GpuHelpers& helpers)
    : gpu_(&gpu),
      helpers_(&helpers),
      go_(gpu),
      watch_(gpu, sizeof(gpu::Watch), "a clock's readings"),
      start_(gpu),
      stop_(gpu) {}

void GpuStopwatch::hold(double least, double most) {
  go_.set(0);
  helpers_->hold(go_.address(), least, most, watch_.address());
}

GpuStopwatch::Reading GpuStopwatch::finish() {
  helpers_->look(watch_.address());
  go_.set(1);
  stop_.wait();
  gpu::Watch watch{};
  watch_.copy_to(std::as_writable_bytes(std::span(&watch, 1)));
  Reading reading;
  reading.seconds = std::max(stop_.since(start_), kLeastTime);
  reading.idle_clock_hz = clock_between(watch.held, watch.released);
  if (watch.after.nanoseconds > 0 && seconds_between(watch.released, watch.after) > kLeastRun)
    reading.clock_hz = clock_between(watch.released, watch.after);
  reading.late = seconds_between(watch.held, watch.released) >= kMostHold;
  return reading;
}

GpuStopwatch::Reading GpuStopwatch::time(const std::function<void()>& launch, std::int64_t kernels) {
  // More than the queue takes are let go while the host still queues the last ones.
  hold(kLeastHold, kernels <= kQueued ? kMostHold : static_cast<double>(kQueued) * kPerKernel);
  start_.record();
  try {
    launch();
  } catch (...) {
    go_.set(1);
    throw;
  }
  stop_.record();
  return finish();
}

GpuStopwatch::Reading GpuStopwatch::time_first(const std::function<void()>& launch) {
  hold(kLeastHold, kLeastHold);
  start_.record();
  launch();
  stop_.record();
  return finish();
}

void GpuStopwatch::queue(const std::function<void()>& work) {
  hold(kLeastHold, kMostHold);
  work();
  go_.set(1);
}

double GpuStopwatch::run(const std::function<void()>& launch, std::int64_t count) {
  start_.record();
  for (std::int64_t i = 0; i < count; ++i) launch();
  stop_.record();
  stop_.wait();
  return std::max(stop_.since(start_), kLeastTime);
}

double GpuStopwatch::rest(double seconds) {
  hold(seconds, seconds);
  gpu::Watch watch{};
  watch_.copy_to(std::as_writable_bytes(std::span(&watch, 1)));
  return clock_between(watch.held, watch.released);
}

}  // namespace tune::worker
