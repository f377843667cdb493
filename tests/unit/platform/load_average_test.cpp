#include "platform/process/load_average.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tune::load_average_test {
namespace {

// Wherever the system tells it at all, as Linux does.
TEST(OthersRunning, CountsAThreadThatIsBusy) {
  if (!platform::others_running()) GTEST_SKIP() << "no /proc/loadavg";
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) {
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  double running = 0;
  while (running < 1 && std::chrono::steady_clock::now() < end) running = *platform::others_running();
  EXPECT_GE(running, 1);
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace tune::load_average_test
