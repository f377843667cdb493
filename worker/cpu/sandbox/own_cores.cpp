#include "cpu/sandbox/own_cores.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sensors/cpu_monitor.h"

namespace tune::worker {

OwnCores::OwnCores(std::vector<pid_t> threads) {
  if (!applies_to(threads)) return;
  const auto taken = processor_of(fmt::format("/proc/{}", threads.front()));
  if (!taken) return;
  std::vector<int> cores = {*taken};
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &all_) && core != *taken) cores.push_back(core);
  limited_ = std::move(threads);
  limited_.push_back(0);
  cores.push_back(*taken);
  for (std::size_t i = 0; i < limited_.size(); ++i) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores[i], &one);
    ::sched_setaffinity(limited_[i], sizeof one, &one);
  }
}

OwnCores::~OwnCores() {
  for (const pid_t thread : limited_) ::sched_setaffinity(thread, sizeof all_, &all_);
}

bool OwnCores::applies_to(const std::vector<pid_t>& threads) {
  if (threads.size() < 2 || ::sched_getaffinity(0, sizeof all_, &all_) != 0) return false;
  if (static_cast<std::size_t>(CPU_COUNT(&all_)) != threads.size()) return false;
  return std::ranges::all_of(threads, [&](pid_t thread) {
    cpu_set_t own;
    return ::tgkill(threads.front(), thread, 0) == 0 && ::sched_getaffinity(thread, sizeof own, &own) == 0 &&
           CPU_EQUAL(&own, &all_);
  });
}

}  // namespace tune::worker
