#include "exec/device/device_clocks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "model/values/error.h"
#include "platform/files/owned_lock_file.h"
#include "wire/messages.h"

extern char** environ;

namespace tune::exec {
namespace {

using KeeperTime = std::chrono::steady_clock;

constexpr auto kKeeperPatience = std::chrono::seconds(20);  // a driver that wakes a card takes some seconds
constexpr auto kKeeperLook = std::chrono::milliseconds(5);

/// Both ends close when a program is started, so that no worker keeps the input of the process open.
std::array<platform::Descriptor, 2> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ExitCode::environment, std::string("cannot make a pipe: ") + std::strerror(errno));
  return {platform::Descriptor(ends[0]), platform::Descriptor(ends[1])};
}

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

std::string held_back(const std::map<std::string, double>& metrics) {
  constexpr std::pair<std::uint64_t, const char*> kReasons[] = {
      {Throttle::power_cap, "the power limit"},
      {Throttle::hardware | Throttle::power_brake, "the hardware"},
      {Throttle::heat, "heat"}};
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

ClockKeeper::ClockKeeper(const std::vector<std::string>& words) {
  auto [input, to] = make_pipe();
  auto [from, output] = make_pipe();
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  const int failed = ::posix_spawn(&process_, argv.front(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw Error(ExitCode::environment, "cannot start " + words.front() + ", which sets the clocks of a device: " +
                                           std::strerror(failed) + "; build or install it with tune");
  child_ = platform::StartedChild(process_);
  to_ = std::move(to);
  from_ = std::move(from);
  first_ = answer();
}

// It answers by its end, which takes as long as the driver needs.
ClockKeeper::~ClockKeeper() {
  to_.close();
  const auto end = KeeperTime::now() + kKeeperPatience;
  while (::waitpid(process_, nullptr, WNOHANG) == 0 && KeeperTime::now() < end)
    ::poll(nullptr, 0, static_cast<int>(kKeeperLook.count()));
}

std::optional<wire::Refused> ClockKeeper::set(const DeviceSettings& settings) {
  if (settings == now_) return std::nullopt;
  if (!to_.write(wire::encode(settings) + "\n")) return give_up("has ended");
  const wire::ClockAnswer said = answer();
  if (const auto* refused = std::get_if<wire::Refused>(&said)) return *refused;
  now_ = settings;
  return std::nullopt;
}

// What it may still say would be taken for the answer to something else. It undoes all now.
wire::Refused ClockKeeper::give_up(const std::string& why) {
  to_.close();
  return {wire::Refused::Why::other, "tune-device-clocks " + why};
}

wire::ClockAnswer ClockKeeper::answer() try {
  const auto end = KeeperTime::now() + kKeeperPatience;
  for (;;) {
    if (const auto line = unread_.find('\n'); line != std::string::npos) {
      const std::string text = unread_.substr(0, line);
      unread_.erase(0, line + 1);
      return wire::decode_clock_answer(text);
    }
    pollfd waits{from_.get(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - KeeperTime::now()).count();
    if (left <= 0) return give_up("does not answer");
    if (::poll(&waits, 1, static_cast<int>(left)) <= 0) continue;
    std::array<char, 4096> room{};
    const ssize_t size = ::read(from_.get(), room.data(), room.size());
    if (size == 0) return give_up("has ended");
    if (size > 0) unread_.append(room.data(), static_cast<std::size_t>(size));
  }
} catch (const wire::Malformed& error) {
  return give_up(std::string("answers wrongly: ") + error.what());
}

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
