#include "exec/device/device_clocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/values/error.h"
#include "platform/files/owned_lock_file.h"

namespace tune::exec {
namespace {

using ClockRefused = wire::Refused::Why;

constexpr double kClockTolerance = 0.01, kClockStepMhz = 8;  // half a step of NVIDIA's clocks, and a little more

/// `1230 or 1245 MHz`: those of a sorted list next to a value.
std::string nearest_of(const std::vector<std::int64_t>& list, std::int64_t value, std::string_view unit) {
  const auto above = std::ranges::lower_bound(list, value);
  std::vector<std::int64_t> near;
  if (above != list.begin()) near.push_back(*std::prev(above));
  if (above != list.end()) near.push_back(*above);
  return fmt::format("{} {}", fmt::join(near, " or "), unit);
}

/// What the device cannot be set to, or empty.
std::string fault_of_setting(DeviceControl control, std::int64_t value, const wire::SettableClocks& settable) {
  const std::string_view unit = unit_of(control);
  const auto& [values, least, most] = settable.of(control);
  if (most > 0 && (value < least || value > most))
    return fmt::format("no {} of {} {}; it can be from {} to {} {}", to_text(control), value, unit, least, most, unit);
  if (values.empty() || std::ranges::binary_search(values, value)) return "";
  return fmt::format("no {} of {} {}; the nearest is {}", to_text(control), value, unit,
                     nearest_of(values, value, unit));
}

std::optional<double> gauge(const std::map<std::string, double>& metrics, const char* name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

/// NVML's reasons for a lower clock, as far as a worker reports them.
std::string held_back(const std::map<std::string, double>& metrics) {
  constexpr std::pair<std::uint64_t, const char*> kReasons[] = {
      {0x4, "the power limit"}, {0x8 | 0x80, "the hardware"}, {0x20 | 0x40, "heat"}};
  const auto bits = static_cast<std::uint64_t>(gauge(metrics, "throttle").value_or(0));
  std::vector<const char*> reasons;
  for (const auto& [mask, text] : kReasons)
    if ((bits & mask) != 0) reasons.push_back(text);
  return reasons.empty() ? "" : fmt::format(", held back by {}", fmt::join(reasons, " and "));
}

std::optional<std::string> clock_contradiction(DeviceControl control, std::int64_t asked, std::optional<double> shown,
                                               const std::map<std::string, double>& metrics) {
  if (asked == 0) return std::nullopt;
  if (!shown) return fmt::format("the {} was set to {} MHz, but the samples do not tell it", to_text(control), asked);
  const auto wanted = static_cast<double>(asked);
  if (std::abs(*shown - wanted) <= std::max(kClockTolerance * wanted, kClockStepMhz)) return std::nullopt;
  return fmt::format("the {} was set to {} MHz, but the samples ran at {:.0f} MHz{}", to_text(control), asked, *shown,
                     held_back(metrics));
}

}  // namespace

DeviceClocks::DeviceClocks(ClockedDevice device, const Plan& plan, RunObserver& observer)
    : device_(std::move(device)), plan_(&plan), observer_(&observer) {}

bool DeviceClocks::are_needed() const {
  if (device_.id.empty()) return false;
  return sets_device(plan_->space) ||
         platform::OwnedLockFile::state_of(device_.file) == platform::OwnedLockFile::State::left;
}

std::unique_ptr<ClockKeeper> DeviceClocks::start() const {
  const std::string backend(tune::to_text(device_.backend));
  return std::make_unique<ClockKeeper>(
      std::vector<std::string>{device_.program.string(), backend, device_.id, device_.file.string()});
}

bool DeviceClocks::are_held() {
  if (platform::OwnedLockFile::state_of(device_.file) != platform::OwnedLockFile::State::held) return false;
  const std::string owner = platform::OwnedLockFile::text_of(device_.file);
  if (!std::exchange(told_, true))
    observer_->news(fmt::format("waiting for the clocks of {}, which another run sets: {}", device_.name,
                                owner.substr(0, owner.find('\n'))));
  return true;
}

bool DeviceClocks::claim() {
  if (!sets_device(plan_->space)) {
    restore_left();
    return true;
  }
  keeper_ = start();
  if (const auto* refused = std::get_if<wire::Refused>(&keeper_->first())) {
    if (refused->why != ClockRefused::in_use) complain(refused->message);
    keeper_.reset();
    return false;
  }
  const auto& settable = std::get<wire::SettableClocks>(keeper_->first());
  if (settable.restored)
    observer_->news(
        fmt::format("the clocks of {} were still as a killed run had set them; they are restored", device_.name));
  require_values(settable);
  try_out();
  return true;
}

// Whoever wants to measure needs the device as it is by itself, but may not be allowed to undo what another did.
void DeviceClocks::restore_left() {
  const auto keeper = start();
  const auto* refused = std::get_if<wire::Refused>(&keeper->first());
  if (refused != nullptr && refused->why == ClockRefused::in_use) return;
  if (refused == nullptr)
    observer_->news(
        fmt::format("the clocks of {} were still as a killed run had set them; they are restored", device_.name));
  else
    observer_->warning(
        fmt::format("the clocks of {} are still as a killed run had set them, and cannot be restored: {}", device_.name,
                    refused->message));
}

void DeviceClocks::require_values(const wire::SettableClocks& settable) const {
  for (const Space::Mapping& mapping : plan_->space.mappings())
    for (const Parameter& parameter : mapping.parameters)
      if (const auto control = device_control(parameter.name))
        for (const Value& value : parameter.values) {
          const std::string why = fault_of_setting(*control, std::get<std::int64_t>(value), settable);
          if (!why.empty())
            throw Error(ExitCode::bad_input,
                        fmt::format("{}: parameter '${}': {} has {}", plan_->yaml.filename().string(), parameter.name,
                                    device_.name, why));
        }
}

// The first value of each parameter, and then all is undone.
void DeviceClocks::try_out() {
  for (const Space::Mapping& mapping : plan_->space.mappings()) {
    DeviceSettings settings;
    for (const Parameter& parameter : mapping.parameters)
      if (const auto control = device_control(parameter.name))
        settings.values[static_cast<std::size_t>(*control)] = std::get<std::int64_t>(parameter.values.front());
    if (const auto refused = set(settings)) complain(refused->message);
  }
  if (const auto refused = set({})) complain(refused->message);
}

void DeviceClocks::complain(const std::string& why) const {
  throw Error(ExitCode::environment,
              fmt::format("{}: the parameters set the clocks or the power limit of {}, which is refused; nothing was "
                          "measured: {}",
                          plan_->yaml.filename().string(), device_.name, why));
}

// If somebody has killed the process, another one undoes what it has left, and goes on.
std::optional<wire::Refused> DeviceClocks::set(const DeviceSettings& settings) {
  if (keeper_ == nullptr) return std::nullopt;
  const auto refused = keeper_->set(settings);
  if (!refused || !keeper_->has_ended()) return refused;
  keeper_ = start();
  if (const auto* why = std::get_if<wire::Refused>(&keeper_->first())) return *why;
  return keeper_->set(settings);
}

std::optional<std::string> contradiction(const DeviceSettings& settings, const std::map<std::string, double>& metrics) {
  for (const DeviceControl control : {DeviceControl::sm_clock, DeviceControl::cpu_clock}) {
    const std::int64_t asked = settings.of(control);
    if (auto why = clock_contradiction(control, asked, gauge(metrics, "clock_mhz"), metrics)) return why;
    // Energy is of another second than the times.
    if (const auto later = gauge(metrics, "energy_clock_mhz"))
      if (auto why = clock_contradiction(control, asked, later, metrics)) return why;
  }
  return clock_contradiction(DeviceControl::memory_clock, settings.of(DeviceControl::memory_clock),
                             gauge(metrics, "memory_clock_mhz"), metrics);
}

}  // namespace tune::exec
