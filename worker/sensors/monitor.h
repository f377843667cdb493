#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"

namespace tune::worker {

/// What a device says of itself at one moment; nullopt: it does not say.
struct Conditions {
  std::optional<double> clock_mhz, memory_clock_mhz, power_w, temperature_c;
  std::optional<std::uint64_t> throttle;  ///< bits of Throttle: why its clock is not higher
};

/// A device's gauges: a vendor's management library.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual Conditions conditions() const = 0;
  /// Energy that the device has taken since some fixed moment; nullopt: it does not count.
  virtual std::optional<double> joules() const = 0;
  /// The power that it is held to.
  virtual std::optional<double> power_limit_w() const = 0;
  /// The processes that compute on it; empty: it does not say.
  virtual std::vector<int> processes() const { return {}; }
};

/// Those of `processes` that were not started by this process' parent. Empty if this process is not among them: then
/// their numbers are of another namespace, and nothing is known of them.
std::vector<int> foreign_processes(const std::vector<int>& processes);

/// Looks at a device now and then while a kernel is timed on it, and sums up what it saw: the reasons to throttle of
/// all looks together, otherwise the last look.
class Observer {
 public:
  using Seconds = std::function<double()>;
  static constexpr double kInterval = 0.05;  ///< seconds between two looks, so that looking costs next to nothing

  /// `monitor` may be null, and then nothing is ever seen. `now` is a clock in seconds.
  Observer(const Monitor* monitor, Seconds now);

  /// The next look is a real one, and replaces what was seen before.
  void start() { last_look_.reset(); }
  /// Does nothing within `interval` of the last look.
  void look(double interval = kInterval);
  bool saw_heat() const;
  /// clock_mhz, memory_clock_mhz, power_w, temperature_c, throttle, as far as they are known.
  std::map<std::string, double> metrics() const;

 private:
  const Monitor* monitor_;
  Seconds now_;
  std::optional<double> last_look_;
  Conditions seen_;
};

/// Runs what `observer` watches, and once more after a pause while it ran on a device slowed down by heat, at most
/// kMostRepeats times. Keeps the last result.
class CoolTimer {
 public:
  static constexpr int kMostRepeats = 3;
  static constexpr double kPause = 1;  ///< seconds

  /// `now` is a clock in seconds, `sleep` waits for a number of seconds.
  CoolTimer(Observer& observer, Observer::Seconds now, std::function<void(double)> sleep)
      : observer_(&observer), now_(std::move(now)), sleep_(std::move(sleep)) {}

  /// `time` takes about `seconds` or what it took before, whichever is more. It is repeated only if it can take twice
  /// that and still be done by `deadline` of the clock.
  template <typename Time>
  auto run(double seconds, double deadline, Time time) const {
    for (int repeats = 0;; ++repeats) {
      observer_->start();
      const double start = now_();
      auto result = time();
      const double end = now_();
      seconds = std::max(seconds, end - start);
      if (!observer_->saw_heat() || repeats == kMostRepeats || end + kPause + 2 * seconds > deadline) return result;
      sleep_(kPause);
    }
  }

 private:
  Observer* observer_;
  Observer::Seconds now_;
  std::function<void(double)> sleep_;
};

}  // namespace tune::worker
