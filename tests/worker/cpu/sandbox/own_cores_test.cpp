#include "cpu/sandbox/own_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "sensors/cpu_monitor.h"

namespace tune::own_cores_test {
namespace {

cpu_set_t cores_of(pid_t thread) {
  cpu_set_t cores;
  EXPECT_EQ(::sched_getaffinity(thread, sizeof cores, &cores), 0);
  return cores;
}

/// A process that is stopped, with so many threads.
class StoppedProcess {
 public:
  explicit StoppedProcess(int threads) {
    process_ = ::fork();
    if (process_ == 0) {
      for (int i = 1; i < threads; ++i) std::thread([] { ::pause(); }).detach();
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(process_, &status, WUNTRACED);
  }
  ~StoppedProcess() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  StoppedProcess(const StoppedProcess&) = delete;
  StoppedProcess& operator=(const StoppedProcess&) = delete;

  std::vector<pid_t> threads() const {
    std::vector<pid_t> all = {process_};
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process_) + "/task"))
      if (const pid_t id = std::stoi(entry.path().filename()); id != process_) all.push_back(id);
    return all;
  }
  int processor() const { return worker::processor_of("/proc/" + std::to_string(process_)).value(); }

 private:
  pid_t process_ = 0;
};

TEST(OwnCores, NoTwoThreadsStartOnTheSameOne) {
  const cpu_set_t all = cores_of(0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "there is one core";
  const StoppedProcess process(CPU_COUNT(&all));
  const std::vector<pid_t> threads = process.threads();
  {
    const worker::OwnCores own(threads);
    cpu_set_t taken;
    CPU_ZERO(&taken);
    for (const pid_t thread : threads) {
      const cpu_set_t one = cores_of(thread);
      EXPECT_EQ(CPU_COUNT(&one), 1);
      CPU_OR(&taken, &taken, &one);
    }
    EXPECT_TRUE(CPU_EQUAL(&taken, &all)) << "each core has one thread";
    const cpu_set_t first = cores_of(threads[0]), ours = cores_of(0);
    EXPECT_TRUE(CPU_ISSET(process.processor(), &first));
    EXPECT_TRUE(CPU_EQUAL(&ours, &first)) << "which is free when there is a result";
  }
  for (const pid_t thread : threads) {
    const cpu_set_t again = cores_of(thread);
    EXPECT_TRUE(CPU_EQUAL(&again, &all));
  }
  const cpu_set_t ours = cores_of(0);
  EXPECT_TRUE(CPU_EQUAL(&ours, &all));
}

TEST(OwnCores, ThreadsThatChoseCoresOrAreMoreOrFewerKeepTheirs) {
  const cpu_set_t all = cores_of(0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "there is one core";
  const auto are_kept = [](const std::vector<pid_t>& threads) {
    const cpu_set_t before = cores_of(threads.back()), ours_before = cores_of(0);
    const worker::OwnCores own(threads);
    const cpu_set_t now = cores_of(threads.back()), ours = cores_of(0);
    return CPU_EQUAL(&before, &now) != 0 && CPU_EQUAL(&ours_before, &ours) != 0;
  };
  EXPECT_TRUE(are_kept(StoppedProcess(CPU_COUNT(&all) - 1).threads()));
  EXPECT_TRUE(are_kept(StoppedProcess(CPU_COUNT(&all) + 1).threads()));
  const StoppedProcess process(CPU_COUNT(&all));
  EXPECT_FALSE(are_kept(process.threads()));
  cpu_set_t chosen = all;
  CPU_CLR(process.processor(), &chosen);
  ASSERT_EQ(::sched_setaffinity(process.threads().front(), sizeof chosen, &chosen), 0);
  EXPECT_TRUE(are_kept(process.threads()));
}

}  // namespace
}  // namespace tune::own_cores_test
