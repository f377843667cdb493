#include "kernel_memory.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace tune {
namespace {

/// 0: not known.
std::int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::int64_t kibibytes = 0;
  for (std::string word; file >> word;)
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  return 0;
}

}  // namespace

std::int64_t limit_memory(std::int64_t bytes) {
  if (bytes == 0) bytes = available_bytes() / 5 * 4;
  rlimit limit{};
  if (bytes == 0 || ::getrlimit(RLIMIT_DATA, &limit) != 0) return 0;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= static_cast<rlim_t>(bytes))
    return static_cast<std::int64_t>(limit.rlim_cur);
  limit.rlim_cur = static_cast<rlim_t>(bytes);
  return ::setrlimit(RLIMIT_DATA, &limit) == 0 ? bytes : 0;
}

}  // namespace tune
