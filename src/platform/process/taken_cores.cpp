#include "platform/process/taken_cores.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace tune::platform {

// Not the average of getloadavg, which still holds the builds of a minute ago.
std::optional<double> others_running() {
  std::ifstream file("/proc/loadavg");
  double average = 0;
  int running = 0;
  char slash = 0;
  if (!(file >> average >> average >> average >> running >> slash) || slash != '/') return std::nullopt;
  const double ours = std::thread::hardware_concurrency(), all = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(running - 1, 0) * (all > 0 ? std::min(ours / all, 1.0) : 1);
}

}  // namespace tune::platform
