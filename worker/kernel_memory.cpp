#include "kernel_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace tune {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

/// The first number of a file; nothing of the sort: `otherwise`.
std::int64_t number_of(const char* path, std::int64_t otherwise) {
  std::int64_t number = 0;
  return std::ifstream(path) >> number ? number : otherwise;
}

/// Of the machine, and of the container that we are in.
std::int64_t available_bytes() {
  std::int64_t machine = kAll;
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
    if (std::int64_t kibibytes = 0; word == "MemAvailable:" && file >> kibibytes) machine = kibibytes << 10;
  const std::int64_t container = number_of("/sys/fs/cgroup/memory.max", kAll);
  return std::min(machine, container - (container == kAll ? 0 : number_of("/sys/fs/cgroup/memory.current", 0)));
}

/// What RLIMIT_DATA counts, with the stack.
std::int64_t taken_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  for (int field = 0; field < 6; ++field) file >> pages;
  return file ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

std::int64_t limit_memory(std::int64_t bytes) {
  const std::int64_t available = available_bytes();
  if (bytes == 0 && available == kAll) return 0;
  if (bytes == 0) bytes = std::max<std::int64_t>(available, 0) / 5 * 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return 0;
  limit.rlim_cur = std::min(limit.rlim_cur, static_cast<rlim_t>(taken_bytes() + bytes));
  return ::setrlimit(RLIMIT_DATA, &limit) == 0 ? bytes : 0;
}

}  // namespace tune
