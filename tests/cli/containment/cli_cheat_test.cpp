// Kernels that cheat (tests/kernels/cheats.cpp), in the real worker: none of them is ranked for work that it did not
// do.
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/cli.h"

namespace tune::cli::cli_cheat_test {
namespace {

/// What a kernel does, the number of that, and how its outcome has to begin.
struct Cheat {
  const char* name;
  int number;
  const char* outcome;
};

const std::string kCaught = "check, reported: ";
constexpr int kHonest = 0;
constexpr int kReturnsAtOnce = 99;

/// Other programs that compute, as many as there are cores.
class BusyCores {
 public:
  BusyCores() {
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
      const pid_t process = ::fork();
      if (process == 0) spin();
      processes_.push_back(process);
    }
  }
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;
  ~BusyCores() {
    for (const pid_t process : processes_) {
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
    }
  }

 private:
  [[noreturn]] static void spin() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) asm volatile("");
  }

  std::vector<pid_t> processes_;
};

class CheatTest : public testing::Test {
 protected:
  /// Tunes over these cheats, in order, and returns their trials by number.
  std::map<int, Trial> tune(const std::vector<int>& cheats, std::vector<std::string> arguments = {}) {
    std::string values;
    for (const int cheat : cheats) values += std::to_string(cheat) + ", ";
    sandbox_.write("gemm.yaml", "{name: gemm, file: " TUNE_SOURCE_DIR
                                "/tests/kernels/cheats.cpp, kernel: gemm,\n"
                                "problem: {gemm: {m: 96, n: 96, k: 96}}, params: {$CHEAT: [" +
                                    values +
                                    "]},\n"
                                    "launch: {args: [A, B, C, m, n, k, CHEAT]}, build: {flags: [-O0]},\n"
                                    "measure: {max_seconds: 0.1, cutoff: 0}}\n");
    arguments.insert(arguments.begin(), {"--yaml", "gemm.yaml", "--output", "out"});
    const Result result = sandbox_.tune(arguments);
    EXPECT_LE(result.code, 1) << result.err;
    std::map<int, Trial> trials;
    for (const wire::TrialRecord& record : sandbox_.trials("out.jsonl"))
      trials[cheats.at(static_cast<std::size_t>(record.trial.spec.mesh_idx))] = record.trial;
    EXPECT_EQ(trials.size(), cheats.size()) << result.err;
    return trials;
  }

  Sandbox sandbox_;
};

TEST_F(CheatTest, EachIsCaughtInItsRow) {
  const std::vector<Cheat> cheats = {
      {"an honest kernel", kHonest, "measured"},
      {"works once", 1, "check, reported: "},
      {"works every second time", 2, "check, reported: "},
      {"does one row only", 3, "check, reported: "},
      {"works while C is NaN", 4, "check, reported: "},
      {"works while C is poisoned", 5, "check, reported: "},
      {"works if C differs from last time", 6, "check, reported: wrong result in C"},
      {"does not reset a counter", 7, "check, reported: wrong result in C"},
      {"caches results by pointer", 8, "check, reported: wrong result in C"},
      {"caches results by a checksum of the content", 9, "check, reported: wrong result in C"},
      {"leaves work to a thread", 11, "check, reported: "},
      {"leaves work to a thread that a timer continues", 12, "check, reported: "},
      {"leaves work to a child", 13, "check, reported: the kernel started a process"},
      {"leaves work to a child that a thread waits for", 23, "check, reported: the kernel started a process"},
      {"leaves work to the system", 26, "check, reported: the kernel started a process"},
      {"forges messages and leaves", 14, "check, protocol: the process ended with exit code 0 but without a result"},
      {"overwrites a mapped reference", 16, "check, reported: wrong result in C"},
      {"lowers the precision", 17, "check, reported: wrong result in C"},
      {"knows the result from a file", 18, "check, reported: wrong result in C"},
      {"keeps another layout of B by pointer", 27, "check, reported: wrong result in C"},
  };
  std::vector<int> numbers;
  for (const Cheat& cheat : cheats) numbers.push_back(cheat.number);
  auto trials = tune(numbers);
  for (const Cheat& cheat : cheats)
    EXPECT_TRUE(outcome_text(trials[cheat.number]).starts_with(cheat.outcome))
        << cheat.name << "\nshould be: " << cheat.outcome << "\nbut was: " << outcome_text(trials[cheat.number]);
}

TEST_F(CheatTest, AClockThatWasStoppedIsContradicted) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the cheat patches x86-64 code";
#endif
  const Trial trial = tune({15}).at(15);
  EXPECT_TRUE(outcome_text(trial).starts_with("measure, reported: the kernel's process reports 1e-06 ms for launches"))
      << outcome_text(trial);
}

/// Whether a kernel that returned while a thread of it worked on for much longer was measured as long as that. Now and
/// then its thread is stopped when it is about to make the call. What is in C then depends on the launch.
bool is_caught_or_slow(const Trial& trial) {
  const Measurement* measurement = trial.measurement();
  return measurement != nullptr ? measurement->timing.median > 0.02 : outcome_text(trial).starts_with(kCaught);
}

TEST_F(CheatTest, WhatNoSignalStopsCountsAsTheLaunchesTime) {
  const Trial trial = tune({24}, {"--timeout-run", "30"}).at(24);
  const std::string outcome = outcome_text(trial);
  const bool too_late = outcome.starts_with("measure, reported: the kernel's process reports ");
  EXPECT_TRUE(too_late || is_caught_or_slow(trial)) << outcome;
}

TEST_F(CheatTest, BesideOtherProgramsWhatNoSignalStopsIsNoAccusation) {
  const BusyCores busy;
  const Trial trial = tune({24}, {"--timeout-run", "30"}).at(24);
  EXPECT_TRUE(is_caught_or_slow(trial)) << outcome_text(trial);
}

TEST_F(CheatTest, ThreadsAreForEveryKernel) { EXPECT_EQ(outcome_text(tune({25}).at(25)), "measured"); }

TEST_F(CheatTest, AKernelsOwnClockIsNotAsked) {
  const auto trials = tune({22});
  ASSERT_EQ(outcome_text(trials.at(22)), "measured");
  EXPECT_GT(trials.at(22).measurement()->timing.median, 0.02) << "it sleeps for 20 ms";
}

TEST_F(CheatTest, ResultsCachedByContentAreNeverFound) {
  EXPECT_EQ(outcome_text(tune({10}).at(10)), "measured") << "it aborts where it finds one";
}

TEST_F(CheatTest, AnArithmeticThatWasChangedChangesNoJudgement) {
  for (const auto& [cheat, trial] : tune({21, kHonest}, {"--isolation", "device"}))
    EXPECT_EQ(outcome_text(trial), "measured") << cheat;
}

TEST_F(CheatTest, NothingIsLeftOfTheSpecBefore) {
  const auto trials = tune({kHonest, kReturnsAtOnce}, {"--isolation", "device"});
  EXPECT_EQ(outcome_text(trials.at(kHonest)), "measured");
  EXPECT_EQ(outcome_text(trials.at(kReturnsAtOnce)), kCaught + "C was not fully written");
}

TEST_F(CheatTest, NeitherReferenceNorJudgeCanBeLookedAt) {
  if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0)
    GTEST_SKIP() << "this system has no Landlock";
  // With a seed of its own, whose reference no other run has.
  for (const auto& [cheat, trial] : tune({19, 20}, {"--seed", std::to_string(::getpid())}))
    EXPECT_EQ(outcome_text(trial), "measured") << cheat;
}

}  // namespace
}  // namespace tune::cli::cli_cheat_test
