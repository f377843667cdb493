#include "platform/process/taken_cores.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace tune::platform {
namespace {

/// How many of the machine's cores this process may use, as a share of all.
double share_of_cores() {
  const double ours = std::thread::hardware_concurrency(), all = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  return all > 0 ? std::min(ours / all, 1.0) : 1;
}

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
  std::ifstream file(path);
  std::string all_cores;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (!(file >> all_cores >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal)) return 0;
  return steal / static_cast<double>(::sysconf(_SC_CLK_TCK)) * share_of_cores();
}

Stolen StolenTime::so_far() const {
  const double stolen = stolen_seconds() - before_;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  return {stolen, seconds.count() > 0 ? stolen / seconds.count() : 0};
}

}  // namespace tune::platform
