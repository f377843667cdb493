// Kernels that read where they must not, change the state they run in, or go on after they have returned, in the real
// worker.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/kernel_cases.h"

namespace tune::cli::cli_guard_test {
namespace {

const std::string kHead = R"(
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <new>
#include <sys/ptrace.h>
#include <thread>
#include <unistd.h>
static volatile int launches = 0;
static volatile float sink;
[[maybe_unused]] static float* last;
[[maybe_unused]] static int deep(int n) { volatile char room[4096]; room[0] = 1; return n < 0 ? 0 : deep(n + 1) + room[0]; }
// As new does; under a sanitizer, that ends the process instead.
[[maybe_unused]] static char* more(std::size_t bytes) {
  void* const memory = malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<char*>(memory);
}
)" + kCpuKernel;

class Guards : public KernelCases {
 protected:
  void write(const std::vector<Case>& cases, const std::string& measure = "max_seconds: 0.01") const {
    KernelCases::write(kHead, cases, "measure: {" + measure + "}, build: {flags: [-O1]}");
  }
};

// The NaN of one guard band must not be taken for that of another, however it got there.
TEST_F(Guards, WhatIsReadFromOneGuardBandAndWrittenToAnotherIsFound) {
  const std::string found = "check, reported: guard band hit: ";
  const std::vector<Case> cases = {
      {"m = m + 1; right();", found},
      {"right(); C[m * n] = A[m * k];", found},
      {"right(); C[m * n] += A[m * k];", found},
      {"right(); C[m * n] *= 0.5f;", found},
  };
  write(cases);
  tune({"--tune", "--no-finals"});
  expect_outcomes(cases);
}

TEST_F(Guards, AStrictCheckNamesTheBufferAndTheSideOfEveryAccessOutside) {
  const std::string fault = "check, reported: segmentation fault: the kernel ";
  const std::vector<Case> cases = {
      {"right();", "measured"},
      {"right(); sink = A[m * k];", fault + "read past the end of A, at byte +0"},
      {"right(); sink = A[-1];", fault + "read before the start of A, at byte -4"},
      {"right(); sink = B[k * n + 25];", fault + "read past the end of B, at byte +100"},
      {"right(); sink = B[-25];", fault + "read before the start of B, at byte -100"},
      {"right(); sink = C[m * n];", fault + "read past the end of C, at byte +0"},
      {"right(); C[-1] = 0;", fault + "wrote before the start of C, at byte -4"},
      {"right(); C[m * n] = 0;",
       "check, reported: guard band hit: 4 bytes written past the end of C, first at byte +0"},
      {"right(); C[m * n + 768] = 0;", fault + "wrote past the end of C, at byte +3072"},
      {"right();", "measured"},
  };
  write(cases);
  const Result result = tune({"--check", "strict"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("tune --yaml gemm.yaml --check strict --spec 1\n"), std::string::npos) << result.out;
  expect_outcomes(cases);
}

TEST_F(Guards, WhatWasNotCheckedStrictlyIsNotKnownToAStrictCheck) {
  const std::vector<Case> loose = {{"right(); sink = A[m * k];", "measured"}};
  write(loose);
  EXPECT_EQ(tune({}).code, 0);
  expect_outcomes(loose);
  EXPECT_EQ(tune({"--check", "strict"}).code, 1);
  expect_outcomes({{"", "check, reported: segmentation fault: the kernel read past the end of A"}});
}

TEST_F(Guards, AStrictCheckIsOfCpuKernels) {
  sandbox_.write_script("{T: [1]}");
  const Result result = sandbox_.tune({"--yaml", "bench.yaml", "--check", "strict"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "tune: error: --check strict protects the buffers of CPU kernels; the backend is program\n");
}

TEST_F(Guards, AnEndThatHasAReasonTellsIt) {
  const std::vector<Case> cases = {
      {"right();", "measured"},
      {"right(); C[1 << 20] = 0;",
       "check, reported: segmentation fault: the kernel wrote past the end of C, at byte +4193280"},
      {"right(); sink = deep(0);", "check, reported: stack overflow: "},
      {"for (;;) sink = *more(16 << 20);", "check, reported: out of memory: its process may take 300 MiB (--memory)"},
      {"right(); ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);",
       "check, reported: the kernel's process lets itself be traced (ptrace)"},
      {"*(volatile int*)8 = 0;", "check, crashed: killed by signal 11 (segmentation fault)"},
      {"right();", "measured"},
  };
  write(cases);
  EXPECT_EQ(tune({"--memory", "300M", "--timeout-run", "20"}).code, 0);
  expect_outcomes(cases);
}

TEST_F(Guards, AShortageOfMemoryMayBeTheMachinesUnlessTheUserLimitsIt) {
  const auto expect_suspected = [&](const std::vector<std::string>& arguments, bool suspected) {
    EXPECT_EQ(tune(arguments).code, 1);
    const auto trials = sandbox_.trials("out.jsonl");
    ASSERT_FALSE(trials.empty());
    EXPECT_TRUE(trials.back().trial.failure()->message.starts_with("out of memory"))
        << outcome_text(trials.back().trial);
    EXPECT_EQ(trials.back().trial.failure()->facts, FailureFacts{.machine_suspected = suspected});
  };
  write({{"sink = *more(std::size_t(1) << 46);", ""}});
  expect_suspected({}, true);
  expect_suspected({"--memory", "300M"}, false);
}

TEST_F(Guards, HeapMemoryThatNobodyWroteIsNotZeroByChance) {
  const std::vector<Case> cases = {
      {"right();", "measured"},
      {"static float* kept = static_cast<float*>(malloc(1 << 20)); right();\n"
       "for (int i = 0; i < m * n; ++i) { kept[i] += C[i]; C[i] = kept[i]; kept[i] = 0; }",
       "check, reported: wrong result in C"},
      {"float* sums = static_cast<float*>(malloc(2000)); right(); C[0] += sums[0]; free(sums);",
       "check, reported: wrong result in C"},
  };
  write(cases);
  EXPECT_EQ(tune({}).code, 0);
  expect_outcomes(cases);
}

TEST_F(Guards, EveryLaunchBeginsWithTheUsualArithmetic) {
  const std::vector<Case> cases = {
      {"if (fegetround() != FE_TONEAREST) abort(); right(); fesetround(FE_UPWARD);", "measured"},
      {"right(); feclearexcept(FE_ALL_EXCEPT); feenableexcept(FE_ALL_EXCEPT);", "measured"},
      {"if (__builtin_ia32_stmxcsr() & 0x8040) abort(); right(); __builtin_ia32_ldmxcsr(0x9fc0);", "measured"},
      {"right();", "measured"},
  };
#if !defined(__x86_64__)
  GTEST_SKIP() << "the kernels are for x86-64";
#endif
  write(cases);
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  expect_outcomes(cases);
  EXPECT_NE(result.out.find("a kernel returns with another rounding mode or treatment of denormal numbers"),
            std::string::npos)
      << result.out;
}

TEST_F(Guards, OneWrongLaunchAmongManyIsFound) {
  const std::vector<Case> cases = {
      {"right();", "measured"},
      {"right(); if (launches == 5) C[3] += 1;", "check, reported: wrong result in C"},
  };
  write(cases);
  EXPECT_EQ(tune({}).code, 0);
  expect_outcomes(cases);
}

TEST_F(Guards, OneWrongLaunchInAMiddleRoundOfTheFinalsIsFound) {
  const std::vector<Case> cases = {
      {"right(); usleep(100);", "measured"},
      {"right(); if (launches == 21) C[3] += 1;", "measured"},
  };
  write(cases, "max_seconds: 0.0001, min_launches: 3");
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  expect_outcomes(cases);
  EXPECT_NE(result.out.find("top_spec_idx: 0\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("wrong result in C"), std::string::npos) << result.out;
}

// What stops with the kernel goes on when its process is continued: after the sixth launch, which is the last of a
// first round in the finals, for no other launch.
TEST_F(Guards, WhatChangesAResultAfterTheReturnIsFoundInTheFinals) {
  const std::vector<Case> cases = {
      {"right(); usleep(100);", "measured"},
      {"right(); last = C; signal(SIGCONT, [](int) { if (launches == 6) last[0] = 7; });", "measured"},
  };
  write(cases);
  const Result result = tune({"--tune"});
  EXPECT_EQ(result.code, 0) << result.err;
  expect_outcomes(cases);
  EXPECT_NE(result.out.find("top_spec_idx: 0\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("changed after the kernel had returned: wrong result in C"), std::string::npos)
      << result.out;
}

}  // namespace
}  // namespace tune::cli::cli_guard_test
