#pragma once
#include <cstdint>
#include <functional>
#include <utility>

namespace tune::worker {

/// Keeps what is timed in the power state `burst`: at the clock that a device grants to short work. Under long, heavy
/// work a power cap lowers it (on an H200 a bf16 product of 8192^3 goes from 1.37 to 1.56 ms within 100 launches), so
/// what was launched at a lower clock does not count, and the device rests until the clock is back. Knows no device:
/// resting is a function that returns the clock, so that a test decides what it is.
class BurstClock {
 public:
  using Rest = std::function<double(double seconds)>;
  static constexpr double kTolerance = 0.015;  ///< a lower clock by this share counts as the same
  static constexpr double kStep = 0.01;        ///< seconds of one rest
  static constexpr int kMostSteps = 40;        ///< in a row
  static constexpr int kIdleSteps = 6;         ///< in a row without a higher clock mean that there is none

  /// `highest_hz` is the clock that the device says it can have; it may grant less, which is then found out.
  BurstClock(double highest_hz, Rest rest) : target_hz_(highest_hz), rest_(std::move(rest)) {}

  /// Whether a launch counts that began when the device was awake, but not busy, at this clock (0: not known). If not,
  /// rests the device until its clock is back, or takes the clock that it grants for that of short work.
  bool rest_unless_reached(double clock_hz);

 private:
  double target_hz_;  ///< what is taken for the device's clock under short work
  Rest rest_;
};

/// Keeps what is timed in the power state `sustained`: under a load that a power cap may hold back. The cap moves the
/// clock up and down (on an H200 products of 8192^3 take 1.58 to 1.71 ms within a second, and the means of whole
/// seconds differ by 0.3 %), so a time is a mean. Knows no device and no clock: both are functions, so that a test
/// decides what a launch takes.
class SteadyLoad {
 public:
  using Run = std::function<double(std::int64_t count)>;
  using Seconds = std::function<double()>;
  static constexpr double kBeforeTurn = 0.25;    ///< seconds of load after which a device that idled is held back
  static constexpr double kBeforeLaunch = 0.01;  ///< seconds of load before each timed launch
  static constexpr double kSample = 0.1;         ///< seconds of timed launches, and of the loads before them
  static constexpr double kMostInARow = 1000;    ///< launches before the clock is read again

  /// `run` launches that many times without a pause, waits, and returns the seconds that it took; `now` is a clock in
  /// seconds.
  SteadyLoad(Run run, Seconds now) : run_(std::move(run)), now_(std::move(now)) {}

  /// Loads the device for so many seconds, with one launch at least; not at all if that is 0.
  void apply(double seconds) const;
  /// The mean of the times of all launches that begin within kSample seconds, of one at least. `timed` makes one.
  double sample(const Seconds& timed) const;

 private:
  Run run_;
  Seconds now_;
};

}  // namespace tune::worker
