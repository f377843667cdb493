#include "idle.h"

#include <chrono>
#include <ctime>
#include <thread>

namespace tune {
namespace {

constexpr auto kLimit = std::chrono::milliseconds(250);
constexpr auto kStep = std::chrono::milliseconds(2);
constexpr double kBusyShare = 0.1;  // of one core

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void wait_until_idle() {
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + kLimit; Clock::now() < end;) {
    const auto start = Clock::now();
    const double before = cpu_seconds();
    std::this_thread::sleep_for(kStep);
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    if (cpu_seconds() - before < kBusyShare * elapsed) return;
  }
}

}  // namespace tune
