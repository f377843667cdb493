#include "sensors/cpu_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "model/statistics/stats.h"
#include "sensors/sysfs.h"

namespace tune::worker {
namespace fs = std::filesystem;
namespace {

constexpr const char *kEnergy = "energy_uj", *kLimit = "constraint_0_power_limit_uw";
constexpr const char* kNoRapl =
    "there are no energy counters (RAPL) in {}: that takes Linux on a CPU by Intel, or by AMD from Zen on, and no "
    "virtual machine; sudo modprobe intel_rapl_msr loads the driver if it is missing";
constexpr const char* kRaplPermission =
    "{}: {}; run tune with sudo, or have an administrator allow it until the machine starts again: sudo chmod a+r "
    "/sys/class/powercap/intel-rapl:*/energy_uj";

std::set<int> processors_of(pid_t process) {
  std::set<int> processors;
  std::error_code error;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), error))
    if (const auto processor = processor_of(thread.path())) processors.insert(*processor);
  return processors;
}

/// In kHz. The average is what the hardware counted, and not every kernel tells it.
std::optional<std::int64_t> clock_of(int processor) {
  const fs::path folder = sysfs(fmt::format("devices/system/cpu/cpu{}/cpufreq", processor));
  const auto counted = sysfs_number(folder / "cpuinfo_avg_freq");
  return counted ? counted : sysfs_number(folder / "scaling_cur_freq");
}

}  // namespace

// The 39th word of its `stat`, of which the second is a name in parentheses.
std::optional<int> processor_of(const fs::path& thread) {
  constexpr int kWordsBetween = 36;
  std::ifstream file(thread / "stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::istringstream words(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string word;
  for (int i = 0; i < kWordsBetween; ++i) words >> word;
  int processor = 0;
  return words >> processor ? std::optional(processor) : std::nullopt;
}

CpuMonitor::CpuMonitor(pid_t process) : process_(process) {
  for (const fs::path& folder : rapl_packages())
    packages_.push_back({folder, sysfs_number(folder / "max_energy_range_uj").value_or(0), std::nullopt, 0});
}

Conditions CpuMonitor::conditions() const {
  std::vector<double> mhz;
  for (const int processor : process_ != 0 ? processors_of(process_) : std::set<int>())
    if (const auto khz = clock_of(processor)) mhz.push_back(1e-3 * static_cast<double>(*khz));
  Conditions now;
  if (!mhz.empty()) now.clock_mhz = median(mhz);
  return now;
}

std::optional<double> CpuMonitor::joules() const {
  std::int64_t sum = 0;
  for (Package& package : packages_) {
    const auto now = sysfs_number(package.folder / kEnergy);
    if (!now) return std::nullopt;
    const std::int64_t grown = *now - package.last.value_or(*now);
    package.sum += grown >= 0 ? grown : grown + package.range;
    package.last = now;
    sum += package.sum;
  }
  return packages_.empty() ? std::nullopt : std::optional(1e-6 * static_cast<double>(sum));
}

std::optional<double> CpuMonitor::power_limit_w() const {
  double watts = 0;
  for (const Package& package : packages_) {
    const auto limit = sysfs_number(package.folder / kLimit);
    if (!limit) return std::nullopt;
    watts += 1e-6 * static_cast<double>(*limit);
  }
  return watts > 0 ? std::optional(watts) : std::nullopt;
}

std::string CpuMonitor::why_no_energy() const {
  if (packages_.empty()) return fmt::format(kNoRapl, sysfs("class/powercap").string());
  for (const Package& package : packages_) {
    errno = 0;
    const fs::path counter = package.folder / kEnergy;
    if (!sysfs_number(counter))
      return fmt::format(kRaplPermission, counter.string(), std::strerror(errno != 0 ? errno : EIO));
  }
  return "";
}

}  // namespace tune::worker
