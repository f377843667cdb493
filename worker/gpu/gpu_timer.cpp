#include "gpu/gpu_timer.h"

#include <algorithm>
#include <utility>

#include "backend.h"
#include "measuring/measure.h"
#include "model/statistics/stats.h"

namespace tune::worker {
namespace {

constexpr double kWake = 2e-3;   // seconds after which a device that idled is as fast as one that did not (H200)
constexpr double kAwake = 2e-3;  // seconds of idleness that leave it so; 50 ms did with kernels of 20 us (H200)
constexpr int kMostRepeats = 8;  // of one launch that does not count

}  // namespace

GpuTimer::GpuTimer(const Gpu& gpu, const GpuHelpers& helpers, GpuMemory& memory, const Verifier& verifier)
    : memory_(&memory),
      stopwatch_(gpu, helpers),
      burst_(1e3 * gpu.attribute(gpu::kClock), [this](double seconds) { return stopwatch_.rest(seconds); }),
      load_([this](std::int64_t count) { return stopwatch_.run([this] { launch_for_load(); }, count); }, seconds_now),
      patterns_(verifier.patterns()) {}

void GpuTimer::use(Subject subject, bool cold_cache) {
  subject_ = std::move(subject);
  subject_.bind();
  cold_cache_ = cold_cache;
  max_error_ = 0;
  clocks_.clear();
  first_clock_mhz_ = 0;
}

void GpuTimer::launch() const {
  memory_->zero();
  subject_.launch();
}

/// What it computes is not verified. But neither its inputs nor its outputs tell it from what is, so that no kernel
/// finds its work done, saves power here, and is timed at a higher clock.
void GpuTimer::launch_for_load() {
  memory_->prepare(patterns_[launches_ % patterns_.size()]);
  launch();
}

void GpuTimer::prepare() {
  const Poison pattern = patterns_[launches_ % patterns_.size()];
  memory_->prepare(pattern);
  if (!cold_cache_) {  // what such a launch leaves in the caches
    launch();
    memory_->prepare(pattern);
  } else {
    memory_->flush();
  }
}

double GpuTimer::verified(const Reading& reading) {
  max_error_ = std::max(max_error_, memory_->verify_outputs(patterns_[launches_++ % patterns_.size()]));
  note_work();
  return reading.seconds;
}

double GpuTimer::first() {
  prepare();
  const Reading reading = stopwatch_.time_first([this] { launch(); });
  first_clock_mhz_ = 1e-6 * reading.clock_hz;
  return verified(reading);
}

bool GpuTimer::counts(const Reading& reading) {
  if (reading.late) return false;
  return state_ != PowerState::burst || burst_.rest_unless_reached(reading.idle_clock_hz);
}

// A launch that still does not count after several repeats is accepted, so that a device that does not settle is
// measured anyway.
double GpuTimer::next(double load) {
  for (int repeats = 0;; ++repeats) {
    if (memory_->wander()) subject_.bind();
    if (state_ == PowerState::sustained) load_.apply(load);
    prepare();
    const Reading reading = stopwatch_.time([this] { launch(); }, subject_.kernels);
    const double seconds = verified(reading);
    if (repeats < kMostRepeats && !counts(reading)) continue;
    if (reading.clock_hz > 0) clocks_.push_back(1e-6 * reading.clock_hz);
    return seconds;
  }
}

double GpuTimer::sample() {
  return state_ == PowerState::burst ? next() : load_.sample([this] { return next(); });
}

void GpuTimer::enter_state(double busy) {
  if (state_ == PowerState::sustained)
    load_.apply(SteadyLoad::kBeforeTurn);
  else if (busy < kWake)
    burst_.rest_unless_reached(stopwatch_.rest(kWake));
}

bool GpuTimer::is_awake() const { return state_ == PowerState::burst && seconds_now() - last_ < kAwake; }

void GpuTimer::note_work() { last_ = seconds_now(); }

double GpuTimer::take_clock_mhz() {
  const std::vector<double> clocks = std::exchange(clocks_, {});
  return clocks.empty() ? first_clock_mhz_ : median(clocks);
}

void GpuTimer::verify_last() {
  memory_->verify_outputs(patterns_[(launches_ + patterns_.size() - 1) % patterns_.size()]);
}

void GpuTimer::launch_late() try {
  for (const std::size_t input : memory_->inputs()) {
    stopwatch_.queue([&] {
      memory_->prepare_late(input, patterns_[launches_ % patterns_.size()]);
      launch();
    });
    verified({});
  }
} catch (const SpecFailure& failure) {
  wire::Failed failed = failure.failed();
  failed.message +=
      "\nlaunched while its input was written: a programmatic launch waits for that (griddepcontrol.wait)";
  throw SpecFailure(failed);
}

void GpuTimer::launch_unverified(std::int64_t count, bool vary_each) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (vary_each || i + 1 == count) memory_->vary();
    launch();
  }
}

}  // namespace tune::worker
