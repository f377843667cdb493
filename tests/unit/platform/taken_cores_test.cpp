#include "platform/process/taken_cores.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace tune::taken_cores_test {
namespace {

// Wherever the system tells it at all, as Linux does.
TEST(OthersRunning, CountsTheShareOfAThreadThatIsBusy) {
  if (!platform::others_running()) GTEST_SKIP() << "no /proc/loadavg";
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) {
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const double ours = std::thread::hardware_concurrency(), all = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double share = std::min(ours / all, 1.0);
  double running = 0;
  while (running < share && std::chrono::steady_clock::now() < end) running = *platform::others_running();
  EXPECT_GE(running, share);
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace tune::taken_cores_test
