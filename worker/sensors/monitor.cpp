#include "sensors/monitor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

namespace tune::worker {

namespace {

/// 0: it is not there.
int parent_of(int process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;)
    if (int parent = 0; word == "PPid:" && status >> parent) return parent;
  return 0;
}

}  // namespace

std::vector<int> foreign_processes(const std::vector<int>& processes) {
  if (std::ranges::find(processes, ::getpid()) == processes.end()) return {};
  std::vector<int> foreign;
  std::ranges::copy_if(processes, std::back_inserter(foreign),
                       [](int process) { return parent_of(process) != ::getppid(); });
  return foreign;
}

Observer::Observer(const Monitor* monitor, Seconds now) : monitor_(monitor), now_(std::move(now)) {}

void Observer::look(double interval) {
  if (monitor_ == nullptr || (last_look_ && now_() - *last_look_ < interval)) return;
  const auto before = last_look_ ? seen_.throttle : std::nullopt;
  seen_ = monitor_->conditions();
  if (before) seen_.throttle = seen_.throttle.value_or(0) | *before;
  last_look_ = now_();
}

bool Observer::saw_heat() const { return (seen_.throttle.value_or(0) & Throttle::heat) != 0; }

std::map<std::string, double> Observer::metrics() const {
  std::map<std::string, double> metrics;
  const auto add = [&](const char* name, const auto& value) {
    if (value) metrics[name] = static_cast<double>(*value);
  };
  add("clock_mhz", seen_.clock_mhz);
  add("memory_clock_mhz", seen_.memory_clock_mhz);
  add("power_w", seen_.power_w);
  add("temperature_c", seen_.temperature_c);
  add("throttle", seen_.throttle);
  return metrics;
}

}  // namespace tune::worker
