#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tune {

/// What a device says of itself at one moment; nullopt: it does not say.
struct Conditions {
  std::optional<double> clock_mhz, memory_clock_mhz, power_w, temperature_c;
  std::optional<std::uint64_t> throttle;  ///< bits of Throttle: why its clock is not higher
};

/// Reasons to throttle, by NVML's numbers. What a user asked for (application clocks, idleness) is not among them.
struct Throttle {
  static constexpr std::uint64_t power_cap = 0x4, hardware = 0x8, software_heat = 0x20, hardware_heat = 0x40,
                                 power_brake = 0x80;
  static constexpr std::uint64_t heat = software_heat | hardware_heat;
  static constexpr std::uint64_t all = power_cap | hardware | heat | power_brake;
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
};

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
  /// Does nothing within kInterval of the last look.
  void look();
  bool saw_heat() const;
  /// clock_mhz, memory_clock_mhz, power_w, temperature_c, throttle, as far as they are known.
  std::map<std::string, double> metrics() const;

 private:
  const Monitor* monitor_;
  Seconds now_;
  std::optional<double> last_look_;
  Conditions seen_;
};

/// Runs `time`, which is what `observer` watches, and once more after `pause` while it ran on a device slowed down by
/// heat, at most kMostRepeats times. Keeps the last result.
class CoolTimer {
 public:
  static constexpr int kMostRepeats = 3;

  CoolTimer(Observer& observer, std::function<void()> pause) : observer_(&observer), pause_(std::move(pause)) {}

  template <typename Time>
  auto run(Time time) const {
    for (int repeats = 0;; ++repeats) {
      observer_->start();
      auto result = time();
      if (!observer_->saw_heat() || repeats == kMostRepeats) return result;
      pause_();
    }
  }

 private:
  Observer* observer_;
  std::function<void()> pause_;
};

}  // namespace tune
