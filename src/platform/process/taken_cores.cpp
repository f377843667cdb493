#include "platform/process/taken_cores.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "platform/process/descendants.h"

namespace tune::platform {
namespace {

/// How many of the machine's cores this process may use, as a share of all.
double share_of_cores() {
  const double ours = std::thread::hardware_concurrency(), all = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  return all > 0 ? std::min(ours / all, 1.0) : 1;
}

/// The line of all cores in /proc/stat: in ticks, since the machine started.
struct CoreTicks {
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
};

std::optional<CoreTicks> core_ticks(const std::string& path) {
  std::ifstream file(path);
  std::string all_cores;
  CoreTicks t;
  file >> all_cores >> t.user >> t.nice >> t.system >> t.idle >> t.iowait >> t.irq >> t.softirq >> t.steal;
  return file ? std::optional(t) : std::nullopt;
}

double seconds_of(double ticks) { return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)); }

}  // namespace

// Not the average of getloadavg, which still holds the builds of a minute ago.
std::optional<double> others_running() {
  std::ifstream file("/proc/loadavg");
  double average = 0;
  int running = 0;
  char slash = 0;
  if (!(file >> average >> average >> average >> running >> slash) || slash != '/') return std::nullopt;
  return std::max(running - 1, 0) * share_of_cores();
}

double stolen_seconds(const std::string& path) {
  const std::optional<CoreTicks> ticks = core_ticks(path);
  return ticks ? seconds_of(ticks->steal) * share_of_cores() : 0;
}

Stolen StolenTime::so_far() const {
  const double stolen = stolen_seconds() - before_;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  return {stolen, seconds.count() > 0 ? stolen / seconds.count() : 0};
}

std::optional<double> seconds_of_others(const std::string& path) {
  const std::optional<CoreTicks> ticks = core_ticks(path);
  if (!ticks) return std::nullopt;
  const double all = ticks->user + ticks->nice + ticks->system + ticks->irq + ticks->softirq;
  return seconds_of(all) - computed_seconds_of_all(::getpid());
}

std::optional<double> TimeOfOthers::cores() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  const std::optional<double> now = seconds_of_others();
  if (!now || !before_) return std::nullopt;
  return std::max(*now - *before_, 0.0) / passed.count() * share_of_cores();
}

}  // namespace tune::platform
