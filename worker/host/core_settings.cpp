#include "host/core_settings.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>

namespace tune::worker {
namespace {

/// `0,2-5`; empty: all that are online, or it is not known.
std::string allowed_cores() {
  const int most = std::max(static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)), CPU_SETSIZE);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most), [](cpu_set_t* s) { CPU_FREE(s); });
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  if (::sched_getaffinity(0, bytes, set.get()) != 0) return "";
  if (CPU_COUNT_S(bytes, set.get()) >= ::sysconf(_SC_NPROCESSORS_ONLN)) return "";
  const auto is_in = [&](int core) { return core < most && CPU_ISSET_S(core, bytes, set.get()); };
  std::string list;
  for (int first = 0; first < most; ++first) {
    if (!is_in(first)) continue;
    int last = first;
    while (is_in(last + 1)) ++last;
    list += (list.empty() ? "" : ",") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
    first = last;
  }
  return list;
}

/// Of version 2: `0::/user.slice/...`.
std::filesystem::path control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::/")) return line.substr(4);
  return {};
}

/// 0: no limit.
double cores_of_file(const std::filesystem::path& file) {
  double quota = 0, period = 0;  // in microseconds; or `max 100000`
  return std::ifstream(file) >> quota >> period && period > 0 ? quota / period : 0;
}

/// `NAME=value`, sorted.
std::set<std::string> variables() {
  std::set<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry)
    for (const std::string_view prefix : {"OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_"})
      if (std::string_view(*entry).starts_with(prefix)) found.insert(*entry);
  return found;
}

}  // namespace

double cores_of_group(const std::filesystem::path& root, const std::filesystem::path& group) {
  double least = cores_of_file(root / "cpu.max");
  std::filesystem::path folder = root;
  for (const auto& name : group) {
    folder /= name;
    const double cores = cores_of_file(folder / "cpu.max");
    if (cores > 0 && (least == 0 || cores < least)) least = cores;
  }
  return least;
}

std::string core_settings() {
  std::string text;
  if (const std::string cores = allowed_cores(); !cores.empty()) text += "cores " + cores + "\n";
  const double share = cores_of_group("/sys/fs/cgroup", control_group());
  if (share > 0 && share < static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN)))
    text += fmt::format("{:g} cores\n", share);
  for (const std::string& variable : variables()) text += variable + "\n";
  return text;
}

}  // namespace tune::worker
