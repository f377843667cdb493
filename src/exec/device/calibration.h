#pragma once
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "model/trial.h"

namespace tune::exec {

/// Makes the times of several devices comparable, because cards of one model differ by a few per cent. One spec that
/// the first device measures is the calibration spec: every other device measures it too, and the factor of that device
/// is the ratio of the two times. This class keeps the calibration spec's outcome on each device. It does not start
/// that spec, nor hold back the other results; its owner does.
class Calibration {
 public:
  using Outcome = std::variant<Measurement, Failure>;

  explicit Calibration(std::size_t devices) : devices_(devices) { devices_.front() = Known{1}; }

  /// Chooses the calibration spec by the ticket of the first device's task. `seconds` is its time there, if it has been
  /// timed.
  void choose(std::int64_t ticket, std::optional<double> seconds);
  /// Cancels the calibration spec, because the first device did not time it in full. Discards its outcomes on the other
  /// devices.
  void drop();
  bool chosen() const { return ticket_.has_value(); }
  bool was_chosen() const { return was_chosen_; }
  bool is_calibration(std::int64_t ticket) const { return ticket_ == ticket; }
  /// Notes the time of the calibration spec on the first device.
  void set_seconds(double seconds) { seconds_ = seconds; }

  /// Whether the device must be given the calibration spec.
  bool lacks_calibration(std::size_t device) const { return chosen() && !takes_specs(device); }
  /// Notes that the device has been given the calibration spec.
  void begin(std::size_t device) { devices_[device] = Timing{}; }
  /// Notes that the device no longer has it. Returns false if it did not have it.
  bool end(std::size_t device);
  /// Notes the outcome of the calibration spec on the device.
  void take(std::size_t device, Outcome outcome) { devices_[device] = Timed{std::move(outcome)}; }

  /// Whether the device can be given other specs, because its factor is known, or its calibration has begun.
  bool takes_specs(std::size_t device) const { return !std::holds_alternative<Untimed>(devices_[device]); }
  /// Whether the device's factor is known.
  bool known(std::size_t device) const { return std::holds_alternative<Known>(devices_[device]); }
  /// The factor by which the device's times must be multiplied; 1 until it is known.
  double factor(std::size_t device) const { return known(device) ? std::get<Known>(devices_[device]).factor : 1; }
  /// Computes the factor of a device, once it and the first device have timed the calibration spec. Returns true if the
  /// factor has become known by this call.
  bool compare(std::size_t device);
  /// The failure of the calibration spec on a device, if the first device has timed it; else null.
  const Failure* failure(std::size_t device) const;

 private:
  struct Untimed {};  ///< it must be given the calibration spec
  struct Timing {};   ///< it has been given it
  struct Timed {
    Outcome outcome;
  };
  struct Known {
    double factor;
  };
  std::vector<std::variant<Untimed, Timing, Timed, Known>> devices_;
  std::optional<std::int64_t> ticket_;  ///< of the calibration spec; unset: there is none
  std::optional<double> seconds_;       ///< of the calibration spec on the first device
  bool was_chosen_ = false;
};

}  // namespace tune::exec
