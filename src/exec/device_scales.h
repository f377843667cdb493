#pragma once
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "model/trial.h"

namespace tune::exec {

/// Makes the times of several devices comparable, since cards of one model differ by per cents. One spec that the first
/// device measures is the common one: every other device measures it too, and its factor is the ratio of the two times.
/// Knows what has become of the common spec on each device; who starts it, and what waits for the factor, it does not.
class DeviceScales {
 public:
  using Outcome = std::variant<Measurement, Failure>;

  explicit DeviceScales(std::size_t devices) : devices_(devices) { devices_.front().known = true; }

  /// Makes a spec the common one, by the ticket of the first device's task; `seconds`: what it has taken there, if it
  /// has been timed.
  void choose(std::int64_t ticket, std::optional<double> seconds);
  /// The common spec is none, because the first device has not timed it in full: what others have made of it is void.
  void drop();
  bool chosen() const { return ticket_.has_value(); }
  bool was_chosen() const { return was_chosen_; }
  bool is_common(std::int64_t ticket) const { return ticket_ == ticket; }
  /// The first device has timed the common spec.
  void set_seconds(double seconds) { seconds_ = seconds; }

  /// Whether the device is to be given the common spec.
  bool lacks_common(std::size_t device) const { return chosen() && !takes_specs(device); }
  /// The device has been given the common spec.
  void begin(std::size_t device) { devices_[device].timing = true; }
  /// It no longer has it. False: it did not have it.
  bool end(std::size_t device);
  /// What has become of the common spec on the device.
  void take(std::size_t device, Outcome outcome) { devices_[device].outcome = std::move(outcome); }

  /// Whether the device can be given other specs: it can be compared, or will be.
  bool takes_specs(std::size_t device) const;
  /// Whether its factor is known.
  bool known(std::size_t device) const { return devices_[device].known; }
  /// What its times are to be multiplied by; 1 until it is known.
  double factor(std::size_t device) const { return devices_[device].factor; }
  /// Works out the factor of a device, once it and the first have timed the common spec. True: it is known from now on.
  bool compare(std::size_t device);
  /// Why a device has no factor though the first has timed the common spec: it failed there. Null: it did not.
  const Failure* failure(std::size_t device) const;

 private:
  struct OneDevice {
    double factor = 1;
    bool known = false;
    bool timing = false;  ///< it has the common spec
    std::optional<Outcome> outcome;
  };
  std::vector<OneDevice> devices_;
  std::optional<std::int64_t> ticket_;  ///< of the common spec; unset: there is none
  std::optional<double> seconds_;       ///< of the common spec on the first device
  bool was_chosen_ = false;
};

}  // namespace tune::exec
