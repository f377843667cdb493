// Kernels and programs that try to have others judged by wrong standards, or to work while no clock runs.
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/has.h"
#include "support/kernel_cases.h"
#include "support/terminal.h"

namespace tune::cli::cli_sabotage_test {
namespace {

namespace fs = std::filesystem;

// `judges` are the worker and the driver.
const std::string kOutside = R"(
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
[[maybe_unused]] static int parent_of(int process) {
  char text[4096] = {};
  sprintf(text, "/proc/%d/stat", process);
  FILE* file = fopen(text, "r");
  if (!file || !fgets(text, sizeof text, file)) abort();
  fclose(file);
  return atoi(strrchr(text, ')') + 4);
}
[[maybe_unused]] static void must_be_denied(int answer) { if (answer == 0 || errno != EPERM) abort(); }
[[maybe_unused]] static void reach_for(int process) {
  rlimit limit;
  cpu_set_t cores;
  sched_param plain = {};
  getrlimit(RLIMIT_CORE, &limit);
  sched_getaffinity(0, sizeof cores, &cores);
  must_be_denied(prlimit(process, RLIMIT_CORE, &limit, nullptr));
  must_be_denied(sched_setaffinity(process, sizeof cores, &cores));
  must_be_denied(sched_setscheduler(process, SCHED_OTHER, &plain));
  must_be_denied(sched_setparam(process, &plain));
  must_be_denied(setpriority(PRIO_PROCESS, process, getpriority(PRIO_PROCESS, process)));
  must_be_denied(int(syscall(SYS_ioprio_set, 1, process, 0)));
  must_be_denied(int(syscall(SYS_ioprio_set, 3, 0, 0)));
  must_be_denied(setpriority(PRIO_PGRP, 0, getpriority(PRIO_PGRP, 0)));
  must_be_denied(setpriority(PRIO_USER, 0, getpriority(PRIO_USER, 0)));
  if (prlimit(0, RLIMIT_CORE, &limit, nullptr) != 0 || sched_setaffinity(0, sizeof cores, &cores) != 0) abort();
  if (setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)) != 0) abort();
}
)";

const std::string kHead = kOutside + R"(
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <string>
#include <thread>
static int launches = 0;
[[maybe_unused]] static volatile int continued = 0;
[[maybe_unused]] static pid_t child = 0;
[[maybe_unused]] static void remove_references(const std::string& folder) {
  const std::string of_our_run = "tune-scratch-" + std::to_string(parent_of(getppid())) + "-";
  DIR* entries = opendir(folder.c_str());
  while (dirent* entry = entries ? readdir(entries) : nullptr)
    if (strncmp(entry->d_name, of_our_run.c_str(), of_our_run.size()) == 0)
      unlink((folder + "/" + entry->d_name + "/reference").c_str());
}
[[maybe_unused]] static double now() {
  timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}
static int slow_clock(int, timespec* time) {
  const double slow = now() / 20;
  time->tv_sec = time_t(slow);
  time->tv_nsec = long(1e9 * (slow - double(time->tv_sec)));
  return 0;
}
// `mov rax, slow_clock; jmp rax`
[[maybe_unused]] static void slow_down_the_clock() {
  auto* code = (unsigned char*)dlsym(RTLD_DEFAULT, "clock_gettime");
  if (mprotect((void*)((unsigned long)code & ~4095UL), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) abort();
  unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  void* target = (void*)slow_clock;
  memcpy(jump + 2, &target, sizeof target);
  memcpy(code, jump, sizeof jump);
}
// Another thread has the only core that this one may use, for 60 ms.
[[maybe_unused]] static void work_while_the_main_thread_waits_for_its_core() {
  static volatile bool works;
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(sched_getcpu(), &core);
  sched_setaffinity(0, sizeof core, &core);
  works = true;
  std::thread worker([] {
    for (const double start = now(); now() < start + 0.4;) {}
    works = false;
  });
  setpriority(PRIO_PROCESS, 0, 19);
  while (works) {}
  worker.join();
}
)" + kCpuKernel;

class Sabotage : public KernelCases {
 protected:
  /// What the cases do follows the right result.
  void write(std::vector<Case> cases, const std::string& measure = "") const {
    for (Case& each : cases) each.code = "right();\n" + each.code;
    KernelCases::write(kHead, cases, "measure: {max_seconds: 0.01" + measure + "}");
  }
  /// A folder whose `tune` is the real one, on a system without Landlock.
  fs::path without_landlock() const {
    fs::permissions(
        sandbox_.write("started/tune", "#!/bin/sh\nexec " TUNE_WITHOUT_LANDLOCK " " TUNE_BIN_DIR "/tune \"$@\"\n"),
        fs::perms::owner_all);
    return sandbox_.folder() / "started";
  }
};

TEST_F(Sabotage, ThePriorityTheLimitsAndTheCoresOfJudgesAreNotForKernels) {
  const std::vector<Case> cases = {{"reach_for(getppid());", "measured"},
                                   {"reach_for(parent_of(getppid()));", "measured"}};
  write(cases);
  EXPECT_EQ(tune({}).code, 0);
  expect_outcomes(cases);
  EXPECT_EQ(sandbox_.tune_from(without_landlock(), {"gemm.yaml", "--output", "other"}).code, 0);
  expect_outcomes(cases, "other.jsonl");
}

TEST_F(Sabotage, WhoIsEndedWhenMemoryIsShortIsNotForKernels) {
  if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0)
    GTEST_SKIP() << "this system has no Landlock";
  const std::vector<Case> cases = {
      {"for (int process : {getpid(), getppid(), parent_of(getppid())})\n"
       "if (FILE* file = fopen((\"/proc/\" + std::to_string(process) + \"/oom_score_adj\").c_str(), \"r+\")) abort();",
       "measured"},
      {"if (!fopen(\"/proc/self/oom_score_adj\", \"r\") || !fopen(\"/proc/cpuinfo\", \"r\")) abort();", "measured"}};
  write(cases);
  EXPECT_EQ(tune({}).code, 0);
  expect_outcomes(cases);
}

TEST_F(Sabotage, AKernelMayMoveItsOwnThreads) {
  const std::vector<Case> cases = {
      {"cpu_set_t cores; sched_getaffinity(0, sizeof cores, &cores); std::thread other([] {});\n"
       "if (pthread_setaffinity_np(other.native_handle(), sizeof cores, &cores) == EPERM) abort(); other.join();",
       "measured"}};
  write(cases);
  EXPECT_EQ(tune({}).code, 0);
  expect_outcomes(cases);
}

TEST_F(Sabotage, ThePriorityTheLimitsAndTheCoresOfJudgesAreNotForPrograms) {
  sandbox_.write("bench.cpp", kOutside + R"(
int main() {
  reach_for(getppid());
  reach_for(parent_of(getppid()));
  puts("{\"time\": 1e-3, \"ok\": true}");
})");
  sandbox_.write("bench.yaml", "{name: bench, file: bench.cpp, params: {$N: [1]}}\n");
  const Result result = sandbox_.tune({"bench.yaml"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const Result other = sandbox_.tune_from(without_landlock(), {"bench.yaml", "--fresh"});
  EXPECT_EQ(other.code, 0) << other.out << other.err;
}

TEST_F(Sabotage, NoKernelRemovesTheReferenceOfOthers) {
  const std::vector<Case> cases = {{"remove_references(\"/dev/shm\"); remove_references(\"/tmp\");", "measured"},
                                   {"", "measured"}};
  write(cases);
  EXPECT_EQ(tune({"--tune"}).code, 0);
  expect_outcomes(cases);
}

TEST_F(Sabotage, AKernelThatHasItselfContinuedBetweenLaunchesIsFound) {
  // By a timer that ends again and again while the judge prepares the next launch, which takes longest for a long k. On
  // a busy machine it may end while the result is compared, which is found as well.
  const std::vector<Case> cases = {
      {"const double start = now(); right(); static timer_t timer; static double end = 0;\n"
       "if (first) { sigevent event{}; event.sigev_notify = SIGEV_SIGNAL; event.sigev_signo = SIGCONT;\n"
       "timer_create(CLOCK_MONOTONIC, &event, &timer); }\n"
       "const long pause = launches > 2 ? long(0.4e9 * (start - end)) : 0;  // 0: never\n"
       "const itimerspec often = {{0, pause / 4}, {0, pause}};\n"
       "timer_settime(timer, 0, &often, nullptr); end = now();",
       ""}};
  KernelCases::write(kHead, cases, "measure: {max_seconds: 1}");
  std::string yaml = sandbox_.read("gemm.yaml");
  yaml.replace(yaml.find("k: 16"), 5, "k: 65536");
  sandbox_.write("gemm.yaml", yaml);
  tune({});
  const std::string outcome = outcome_text(sandbox_.trials("out.jsonl").at(0).trial);
  EXPECT_TRUE(outcome.starts_with("check, reported: the kernel's process went on between two launches") ||
              outcome.starts_with("check, reported: the kernel's process cannot be stopped while its result is "))
      << outcome;
}

TEST_F(Sabotage, BetweenTwoLaunchesAKernelNeverGetsACore) {
  const std::vector<Case> cases = {
      {"static int before = continued; if (continued - before > 1) abort(); before = continued;\n"
       "signal(SIGCONT, [](int) { continued = continued + 1; });",
       "measured"}};
  write(cases, ", cold_cache: false");
  EXPECT_EQ(tune({}).code, 0);
  expect_outcomes(cases);
  write(cases);
  EXPECT_EQ(tune({}).code, 0);
  expect_outcomes(cases);
}

TEST_F(Sabotage, ToWaitForACoreThatOnesOwnThreadsHaveIsNoExcuse) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the kernel patches x86-64 code";
#endif
  write({{"if (first) slow_down_the_clock();\nwork_while_the_main_thread_waits_for_its_core();", ""}},
        ", min_launches: 1, warmup: 1");
  tune({});
  const Trial trial = sandbox_.trials("out.jsonl").at(0).trial;
  // Beside other programs it is the judge's time that counts.
  const Measurement* measurement = trial.measurement();
  EXPECT_TRUE(measurement != nullptr
                  ? measurement->timing.median > 0.04
                  : outcome_text(trial).starts_with("measure, reported: the kernel's process reports "))
      << outcome_text(trial);
}

TEST_F(Sabotage, WhatStandsInTheWayOfOneOutputIsInNoOthersWay) {
  fs::permissions(sandbox_.write("bench.sh", "#!/bin/sh\nmkdir -p out.csv\necho '{\"time\": 1e-3, \"ok\": true}'\n"),
                  fs::perms::owner_all);
  sandbox_.write("bench.yaml", "{name: bench, file: bench.sh, params: {$N: [1]}}\n");
  const Result result = sandbox_.tune({"bench.yaml", "--tune", "--output", "out"});
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.err, "tune: error: cannot write out.csv: it is a folder")) << result.err;
  EXPECT_TRUE(has(sandbox_.read("out.yaml"), "result:"));
}

TEST_F(Sabotage, AJournalThatIsGoneIsMissed) {
  for (const std::string how : {"rm -f out.jsonl", "echo > out.jsonl", "cp out.jsonl other; mv other out.jsonl", ":"}) {
    fs::remove(sandbox_.folder() / "out.jsonl");
    fs::permissions(sandbox_.write("bench.sh", "#!/bin/sh\n" + how + "\necho '{\"time\": 1e-3, \"ok\": true}'\n"),
                    fs::perms::owner_all);
    sandbox_.write("bench.yaml", "{name: bench, file: bench.sh, params: {$N: [1]}}\n");
    const Result result = sandbox_.tune({"bench.yaml", "--output", "out"});
    EXPECT_EQ(result.code, 0) << result.err;
    const std::string note = "note: out.jsonl: this journal was removed, replaced or cut while the run wrote to it";
    EXPECT_EQ(has(result.out, note), how != ":") << how << "\n" << result.out;
  }
}

TEST_F(Sabotage, TheTerminalIsNotForPrograms) {
  fs::permissions(sandbox_.write("bench.sh",
                                 "#!/bin/sh\nif (: > /dev/tty) 2> /dev/null; then ok=false; else ok=true; fi\n"
                                 "echo \"{\\\"time\\\": 1e-3, \\\"ok\\\": $ok}\"\n"),
                  fs::perms::owner_all);
  sandbox_.write("bench.yaml", "{name: bench, file: bench.sh, params: {$N: [1]}}\n");
  const std::string in_session = "exec setsid --ctty --wait sh -c ': > /dev/tty && exec $TUNE bench.yaml' 0<&1";
  InTerminal run(sandbox_, "/bin/sh", {"-c", in_session}, 80);
  EXPECT_EQ(run.code(), 0) << run.text();
}

}  // namespace
}  // namespace tune::cli::cli_sabotage_test
