#include "exec/device/device_scales.h"

#include <utility>

namespace tune::exec {

void DeviceScales::choose(std::int64_t ticket, std::optional<double> seconds) {
  ticket_ = ticket;
  seconds_ = seconds;
  was_chosen_ = true;
}

void DeviceScales::drop() {
  ticket_.reset();
  seconds_.reset();
  for (OneDevice& device : devices_) device.outcome.reset();
}

bool DeviceScales::end(std::size_t device) { return std::exchange(devices_[device].timing, false); }

bool DeviceScales::takes_specs(std::size_t device) const {
  return devices_[device].known || devices_[device].timing || devices_[device].outcome;
}

bool DeviceScales::compare(std::size_t device) {
  OneDevice& one = devices_[device];
  const auto* measurement = one.outcome ? std::get_if<Measurement>(&*one.outcome) : nullptr;
  if (one.known || !seconds_ || measurement == nullptr) return false;
  one.factor = *seconds_ / measurement->timing.median;
  return one.known = true;
}

const Failure* DeviceScales::failure(std::size_t device) const {
  const OneDevice& one = devices_[device];
  return one.known || !seconds_ || !one.outcome ? nullptr : std::get_if<Failure>(&*one.outcome);
}

}  // namespace tune::exec
