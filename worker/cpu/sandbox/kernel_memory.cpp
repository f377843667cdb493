#include "cpu/sandbox/kernel_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace tune::worker {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> number_of(const std::filesystem::path& file) {
  std::int64_t number = 0;
  return std::ifstream(file) >> number ? std::optional(number) : std::nullopt;
}

/// The bytes of those pages that count as taken but are given up before any request fails.
std::int64_t reclaimable_bytes(const std::filesystem::path& cgroup) {
  std::ifstream file(cgroup / "memory.stat");
  std::int64_t sum = 0, bytes = 0;
  for (std::string name; file >> name >> bytes;)
    if (name == "inactive_file" || name == "active_file" || name == "slab_reclaimable") sum += bytes;
  return sum;
}

/// The bytes available on the machine and in the container that we are in, whichever is less.
std::int64_t available_bytes() {
  std::int64_t machine = kAll;
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
    if (std::int64_t kibibytes = 0; word == "MemAvailable:" && file >> kibibytes) machine = kibibytes << 10;
  return std::min(machine, left_in_container("/sys/fs/cgroup").value_or(kAll));
}

/// What RLIMIT_DATA counts, with the stack.
std::int64_t taken_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  for (int field = 0; field < 6; ++field) file >> pages;
  return file ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

std::optional<std::int64_t> left_in_container(const std::filesystem::path& cgroup) {
  const auto most = number_of(cgroup / "memory.max");
  if (!most) return std::nullopt;
  const std::int64_t taken = number_of(cgroup / "memory.current").value_or(0) - reclaimable_bytes(cgroup);
  return *most - std::clamp<std::int64_t>(taken, 0, *most);
}

std::int64_t limit_memory(std::int64_t bytes) {
  const std::int64_t available = available_bytes();
  if (bytes == 0 && available == kAll) return 0;
  if (bytes == 0) bytes = std::max<std::int64_t>(available, 0) / 5 * 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return 0;
  limit.rlim_cur = std::min(limit.rlim_cur, static_cast<rlim_t>(taken_bytes() + bytes));
  return ::setrlimit(RLIMIT_DATA, &limit) == 0 ? bytes : 0;
}

}  // namespace tune::worker
