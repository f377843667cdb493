#include "platform/process/taken_cores.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "platform/files/file.h"
#include "platform/process/descendants.h"

namespace tune::taken_cores_test {
namespace {

double share_of_cores() {
  const double ours = std::thread::hardware_concurrency(), all = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::min(ours / all, 1.0);
}

// Wherever the system tells it at all, as Linux does.
TEST(OthersRunning, CountsTheShareOfAThreadThatIsBusy) {
  if (!platform::others_running()) GTEST_SKIP() << "no /proc/loadavg";
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) {
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const double share = share_of_cores();
  double running = 0;
  while (running < share && std::chrono::steady_clock::now() < end) running = *platform::others_running();
  EXPECT_GE(running, share);
  stop = true;
  busy.join();
}

void compute_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(TimeOfOthers, IsThatOfProcessesWhichThisOneDidNotStart) {
  const platform::TimeOfOthers others;
  // A process whose parent has ended belongs to another one. It computes until this one has seen it.
  int pipe[2] = {};
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t orphan = ::fork();
    if (orphan == 0) compute_for(std::chrono::seconds(30));
    [[maybe_unused]] const auto written = ::write(pipe[1], &orphan, sizeof orphan);
    ::_exit(0);
  }
  pid_t orphan = 0;
  ASSERT_EQ(::read(pipe[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  double most = 0;
  while (most < 0.1 * share_of_cores() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    most = std::max(most, others.cores().value_or(0));
  }
  ::kill(orphan, SIGKILL);
  EXPECT_GE(most, 0.1 * share_of_cores());
}

TEST(ComputedSecondsOfAll, AreThoseOfTheProcessAndOfWhatItStarted) {
  const double before = platform::computed_seconds_of_all(::getpid());
  int pipe[2] = {};
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    while (platform::computed_seconds_of_all(::getpid()) < 0.15) compute_for(std::chrono::milliseconds(10));
    [[maybe_unused]] const auto written = ::write(pipe[1], "x", 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  EXPECT_GE(platform::computed_seconds_of_all(::getpid()), before + 0.1) << "it still lives";
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_GE(platform::computed_seconds_of_all(::getpid()), before + 0.1) << "it has been reaped";
}

TEST(TimeOfOthers, IsNotThatOfThisProcessAndItsChildren) {
  const std::string path = testing::TempDir() + "all-" + std::to_string(::getpid());
  platform::write_file(path, "cpu  500000 0 0 0 0 0 0 0 0 0\n");
  const std::optional<double> before = platform::seconds_of_others(path);
  const double own = platform::computed_seconds_of_all(::getpid());
  while (platform::computed_seconds_of_all(::getpid()) < own + 0.15) compute_for(std::chrono::milliseconds(10));
  const std::optional<double> after = platform::seconds_of_others(path);
  ASSERT_TRUE(before && after);
  EXPECT_LE(*after, *before - 0.1) << "all computed as much as before, and this process more";
  platform::write_file(path, "");
  EXPECT_EQ(platform::seconds_of_others(path), std::nullopt);
  std::filesystem::remove(path);
}

/// The ticks stolen from all cores of a machine whose /proc/stat says this.
double stolen_ticks(const std::string& text) {
  const std::string path = testing::TempDir() + "stat-" + std::to_string(::getpid());
  platform::write_file(path, text);
  const double seconds = platform::stolen_seconds(path) / share_of_cores();
  std::filesystem::remove(path);
  return seconds * static_cast<double>(::sysconf(_SC_CLK_TCK));
}

TEST(StolenSeconds, AreThoseOfAllCoresTogether) {
  EXPECT_DOUBLE_EQ(
      stolen_ticks(
          "cpu  142167 6881 22433 2017531 1966 7 165 533 5 6\ncpu0 70015 3363 10915 1010996 245 0 34 256 0 0\n"),
      533);
  EXPECT_EQ(stolen_ticks("cpu  142167 6881 22433 2017531\n"), 0) << "the system does not tell";
  EXPECT_EQ(stolen_ticks(""), 0);
}

}  // namespace
}  // namespace tune::taken_cores_test
