#pragma once
#include <optional>
#include <span>

namespace tune {

/// One spec at one clock.
struct ClockSample {
  double mhz = 0, seconds = 0, watts = 0;
};

/// How time and power of one spec depend on the clock: the part of its time that the clock does not change, and the
/// part that is inverse to it; a static power, and a dynamic one that grows with the clock and the square of the
/// voltage. The voltage is the same up to a clock, the ridge, and rises in proportion beyond it.
class PowerModel {
 public:
  static constexpr std::size_t kFewest = 4;  ///< samples, at different clocks

  /// The least squares of the relative errors. nullopt: too few samples, or none that make sense.
  static std::optional<PowerModel> fit(std::span<const ClockSample> samples);

  double watts(double mhz) const;
  double seconds(double mhz) const { return fixed_seconds_ + cycles_ / mhz; }
  double static_watts() const { return static_watts_; }
  double watts_per_mhz() const { return watts_per_mhz_; }
  double ridge_mhz() const { return ridge_mhz_; }
  /// The largest relative error of the power of a sample.
  double error() const { return error_; }

 private:
  double volts(double mhz) const;

  double fixed_seconds_ = 0, cycles_ = 0;  ///< in millions
  double static_watts_ = 0, watts_per_mhz_ = 0;
  double ridge_mhz_ = 0, rise_ = 0;  ///< of the voltage, per MHz beyond the ridge, in shares of it
  double error_ = 0;
};

}  // namespace tune
