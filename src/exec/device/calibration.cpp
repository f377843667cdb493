#include "exec/device/calibration.h"

namespace tune::exec {

void Calibration::choose(std::int64_t ticket, std::optional<double> seconds) {
  ticket_ = ticket;
  seconds_ = seconds;
  was_chosen_ = true;
}

void Calibration::drop() {
  ticket_.reset();
  seconds_.reset();
  for (auto& device : devices_)
    if (std::holds_alternative<Timed>(device)) device = Untimed{};
}

bool Calibration::end(std::size_t device) {
  if (!std::holds_alternative<Timing>(devices_[device])) return false;
  devices_[device] = Untimed{};
  return true;
}

bool Calibration::compare(std::size_t device) {
  const auto* timed = std::get_if<Timed>(&devices_[device]);
  const auto* measurement = timed != nullptr ? std::get_if<Measurement>(&timed->outcome) : nullptr;
  if (!seconds_ || measurement == nullptr) return false;
  devices_[device] = Known{*seconds_ / measurement->timing.median};
  return true;
}

const Failure* Calibration::failure(std::size_t device) const {
  const auto* timed = std::get_if<Timed>(&devices_[device]);
  return seconds_ && timed != nullptr ? std::get_if<Failure>(&timed->outcome) : nullptr;
}

}  // namespace tune::exec
