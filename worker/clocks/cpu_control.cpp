#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>
#include <vector>

#include "clocks/clock_control.h"
#include "platform/files/descriptor.h"
#include "sensors/sysfs.h"

namespace tune::worker {
namespace fs = std::filesystem;
namespace {

constexpr auto kSettling = std::chrono::milliseconds(20);  // after which the kernel tells no older clock
constexpr std::int64_t kKhzPerMhz = 1'000, kMicrowattsInOneWatt = 1'000'000;
constexpr const char *kLowest = "scaling_min_freq", *kHighest = "scaling_max_freq";
constexpr const char *kPowerLimit = "constraint_0_power_limit_uw", *kMostPower = "constraint_0_max_power_uw";
constexpr const char* kNoCpufreq =
    "this machine's kernel does not let the clock be set: there is no /sys/devices/system/cpu/cpufreq, as in most "
    "virtual machines";
constexpr const char* kNoPowercap =
    "this machine's kernel does not let the power be limited: there is no /sys/class/powercap/intel-rapl:0";
constexpr const char* kSysfsPermission =
    "it takes root: run tune with sudo, or in a container that may write /sys (--privileged); or have an administrator "
    "set it, and leave these parameters out";

[[noreturn]] void refuse_file(const fs::path& file, int error) {
  const bool forbidden = error == EACCES || error == EPERM || error == EROFS;
  const std::string text = fmt::format("{}: {}", file.string(), std::strerror(error));
  if (forbidden) throw ClockRefusal{{wire::Refused::Why::permission, text + "; " + kSysfsPermission}};
  throw ClockRefusal{{wire::Refused::Why::other, text}};
}

void write_number(const fs::path& file, std::int64_t value) {
  const platform::Descriptor open(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!open || !open.write(std::to_string(value) + "\n")) refuse_file(file, errno);
}

/// In kHz.
struct ClockLimits {
  std::int64_t lowest, highest;
};

/// The lower one must never be above the higher one.
void write_limits(const fs::path& policy, ClockLimits limits) {
  const bool rises = limits.highest > sysfs_number(policy / kHighest).value_or(0);
  if (rises) write_number(policy / kHighest, limits.highest);
  write_number(policy / kLowest, limits.lowest);
  if (!rises) write_number(policy / kHighest, limits.highest);
}

std::string saved_name(const fs::path& folder, const char* file) { return folder.filename().string() + '/' + file; }

std::optional<std::int64_t> saved_value(const ClockControl::Saved& saved, const fs::path& folder, const char* file) {
  const auto found = saved.find(saved_name(folder, file));
  return found == saved.end() ? std::nullopt : std::optional(found->second);
}

/// All processors of the machine: the limits of their clocks, by cpufreq, and the power limit of each package, by
/// powercap.
class CpuControl final : public ClockControl {
 public:
  // Processors that are switched off have no clock.
  CpuControl() : policies_(sysfs_numbered(sysfs("devices/system/cpu/cpufreq"), "policy")), packages_(rapl_packages()) {
    std::erase_if(policies_, [](const fs::path& policy) { return sysfs_line(policy / "affected_cpus").empty(); });
  }

  // All policies are assumed to have what the first one has; if they do not, the samples show it.
  wire::SettableClocks settable() const override {
    wire::SettableClocks settable;
    if (!policies_.empty()) {
      wire::Choices& clocks = settable.of(DeviceControl::cpu_clock);
      const fs::path& policy = policies_.front();
      std::istringstream listed(sysfs_line(policy / "scaling_available_frequencies"));
      for (std::int64_t khz = 0; listed >> khz;) clocks.values.push_back(khz / kKhzPerMhz);
      std::ranges::sort(clocks.values);
      clocks.least = sysfs_number(policy / "cpuinfo_min_freq").value_or(0) / kKhzPerMhz;
      clocks.most = sysfs_number(policy / "cpuinfo_max_freq").value_or(0) / kKhzPerMhz;
    }
    if (!packages_.empty()) {
      settable.of(DeviceControl::power_limit).least = 1;
      settable.of(DeviceControl::power_limit).most =
          sysfs_number(packages_.front() / kMostPower).value_or(0) / kMicrowattsInOneWatt;
    }
    return settable;
  }

  ClockControl::Saved saved() const override {
    Saved saved;
    const auto save = [&](const std::vector<fs::path>& folders, const char* file) {
      for (const fs::path& folder : folders)
        if (const auto value = sysfs_number(folder / file)) saved[saved_name(folder, file)] = *value;
    };
    save(policies_, kLowest);
    save(policies_, kHighest);
    save(packages_, kPowerLimit);
    return saved;
  }

  void set(DeviceControl control, std::int64_t value) override {
    const bool is_clock = control == DeviceControl::cpu_clock;
    const auto& folders = is_clock ? policies_ : packages_;
    if (folders.empty()) throw ClockRefusal{{wire::Refused::Why::other, is_clock ? kNoCpufreq : kNoPowercap}};
    for (const fs::path& folder : folders)
      if (is_clock)
        write_limits(folder, {kKhzPerMhz * value, kKhzPerMhz * value});
      else
        write_number(folder / kPowerLimit, kMicrowattsInOneWatt * value);
    std::this_thread::sleep_for(kSettling);
  }

  void reset(DeviceControl control, const Saved& saved) override {
    if (control == DeviceControl::cpu_clock)
      for (const fs::path& policy : policies_) {
        const auto lowest = saved_value(saved, policy, kLowest), highest = saved_value(saved, policy, kHighest);
        if (lowest && highest) write_limits(policy, {*lowest, *highest});
      }
    if (control == DeviceControl::power_limit)
      for (const fs::path& package : packages_)
        if (const auto limit = saved_value(saved, package, kPowerLimit)) write_number(package / kPowerLimit, *limit);
  }

 private:
  std::vector<fs::path> policies_, packages_;
};

}  // namespace

std::unique_ptr<ClockControl> open_cpu_control() { return std::make_unique<CpuControl>(); }

}  // namespace tune::worker
