#include "platform/process/load_average.h"

#include <algorithm>
#include <fstream>

namespace tune::platform {

// Not the average of getloadavg, which still holds the builds of a minute ago.
std::optional<int> others_running() {
  std::ifstream file("/proc/loadavg");
  double average = 0;
  int running = 0;
  char slash = 0;
  if (!(file >> average >> average >> average >> running >> slash) || slash != '/') return std::nullopt;
  return std::max(running - 1, 0);
}

}  // namespace tune::platform
