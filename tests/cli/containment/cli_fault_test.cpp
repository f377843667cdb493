// Kernels that go wrong, in the real worker: each ends in its row and hurts no other spec.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>
#include <string>
#include <vector>

#include "support/kernel_cases.h"

namespace tune::cli::cli_fault_test {
namespace {

const std::string kYaml =
    "{name: gemm, file: gemm.cpp, kernel: gemm, problem: {gemm: {m: 16, n: 16, k: 16}},\n"
    "measure: {max_seconds: 0.01},\n";

const std::string kHead = R"(
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static int launches = 0;
)" + kCpuKernel;

class Faults : public KernelCases {
 protected:
  void write_kernels(const std::vector<Case>& cases) const { write(kHead, cases, "measure: {max_seconds: 0.01}"); }
};

TEST_F(Faults, AProcessThatEndsIsOneRow) {
  const std::vector<Case> cases = {
      {"right();", "measured"},
      {"C[1L << 40] = 0;", "check, crashed: killed by signal 11 (segmentation fault)"},
      {"abort();", "check, crashed: killed by signal 6 (aborted)"},
      {"__builtin_trap();", "check, crashed: killed by signal 4 (illegal instruction)"},
      {"right(); kill(getpid(), SIGKILL);", "check, crashed: killed by signal 9 (killed)"},
      {"right(); exit(0);", "check, protocol: the process ended with exit code 0 but without a result"},
      {"right(); _exit(0);", "check, protocol: the process ended with exit code 0 but without a result"},
      {"right(); _exit(3);", "check, crashed: exit code 3"},
      {"right(); if (launches == 3) abort();", "measure, crashed: killed by signal 6 (aborted)"},
      {"right(); if (launches == 3) _exit(0);",
       "measure, protocol: the process ended with exit code 0 but without a result"},
      {"right();", "measured"},
  };
  write_kernels(cases);
  const Result result = tune({});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("check, crashed: killed by signal 11 (segmentation fault)"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("tune --yaml gemm.yaml --spec 1\n"), std::string::npos) << result.out;
  expect_outcomes(cases);
}

TEST_F(Faults, AProcessThatDoesNotEndIsKilledAtItsDeadline) {
  const std::vector<Case> cases = {
      {"right();", "measured"},
      {"for (volatile int i = 0;; i = i) {}", "check, timed out: no answer within 1 s"},
      {"right(); while (launches == 3) pause();", "measure, timed out: no answer within 1 s"},
      {"right(); raise(SIGSTOP);", "check, timed out: no answer within 1 s"},
      {"signal(SIGTERM, SIG_IGN); for (;;) pause();", "check, timed out: no answer within 1 s"},
      {"right();", "measured"},
  };
  write_kernels(cases);
  EXPECT_EQ(tune({"--timeout-run", "1"}).code, 0);
  expect_outcomes(cases);
  EXPECT_TRUE(eventually([&] { return sandbox_.processes().empty(); }));
}

TEST_F(Faults, AWrongResultIsOneRow) {
  const std::vector<Case> cases = {
      {"right();", "measured"},
      {"for (int i = 0; i < m * n; ++i) C[i] = __builtin_nanf(\"\");", "check, reported: wrong result in C"},
      {"right(); C[77] += 1;", "check, reported: wrong result in C"},
      {"right(); for (int i = 0; i < m; ++i) { float c = C[i * n]; C[i * n] = C[i * n + 1]; C[i * n + 1] = c; }",
       "check, reported: wrong result in C"},
      {"right(); if (!first) C[0] = 0;", "check, reported: wrong result in C"},
      {"right(); const_cast<float*>(A)[3] += 1;", "check, reported: input A was overwritten at element 3"},
      {"right(); C[m * n] = 0;",
       "check, reported: guard band hit: 4 bytes written past the end of C, first at byte +0"},
      {"right(); C[-1] = 0;",
       "check, reported: guard band hit: 4 bytes written before the start of C, last at byte -1"},
      {"return;", "check, reported: C was not fully written"},
      {"right();", "measured"},
  };
  write_kernels(cases);
  const Result result = tune({});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("256 of 256 elements are wrong (100 %), 256 NaN"), std::string::npos) << result.out;
  expect_outcomes(cases);
}

TEST_F(Faults, AKernelThatClosesAllDescriptorsHurtsNobody) {
  const std::vector<Case> cases = {
      {"right(); for (int fd = 0; fd < 1024; ++fd) close(fd);", "measured"},
      {"right();", "measured"},
  };
  write_kernels(cases);
  EXPECT_EQ(tune({"--timeout-run", "1"}).code, 0);
  expect_outcomes(cases);
}

TEST_F(Faults, AFloodOfOutputIsCut) {
  const std::vector<Case> cases = {
      {"right(); static char text[1 << 20]; for (int i = 0; first && i < 512; ++i) "
       "if (write(1 + i % 2, text, sizeof text) < 0) abort();",
       "measured"},
      {"for (static char text[1 << 16];;) if (write(2, text, sizeof text) < 0) abort();",
       "check, timed out: no answer within 5 s"},
  };
  write_kernels(cases);
  EXPECT_EQ(tune({"--timeout-run", "5"}).code, 0);
  expect_outcomes(cases);
  EXPECT_LT(std::filesystem::file_size(sandbox_.folder() / "out.jsonl"), 100'000U);
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  EXPECT_LT(usage.ru_maxrss, 400'000) << "KiB in the largest of tune, its worker and the compiler";
}

TEST_F(Faults, AFailedBuildIsOneRow) {
  const std::vector<Case> cases = {
      {"extern \"C\" void gemm(const float*, const float*, float*, int, int, int) { int x = ; }",
       "build, reported: gemm.cpp:"},
      {"extern \"C\" void another(const float*, const float*, float*, int, int, int) {}",
       "build, reported: kernel 'gemm' is not declared in gemm.cpp"},
      {"extern \"C\" void gemm(const float*, const float*, float*, int, int) {}",
       "build, reported: args do not fit the parameters of kernel 'gemm'"},
      {"extern \"C\" void gemm(const double*, const float*, float*, int, int, int) {}",
       "build, reported: args do not fit the parameters of kernel 'gemm'"},
      {"constexpr int endless() { int x = 0; for (int i = 0; i < 2000000000; ++i) x ^= i; return x; }\n"
       "static_assert(endless() != 1);",
       "build, timed out: no answer within 4 s"},
      {"extern \"C\" void gemm(const float* A, const float* B, float* C, int m, int n, int k) {\n"
       "for (int i = 0; i < m; ++i) for (int j = 0; j < n; ++j) { float sum = 0;\n"
       "for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j]; C[i * n + j] = sum; } }",
       "measured"},
  };
  std::string source;
  for (std::size_t i = 0; i < cases.size(); ++i)
    source += "#if CASE == " + std::to_string(i) + "\n" + cases[i].code + "\n#endif\n";
  sandbox_.write("gemm.cpp", source);
  sandbox_.write("gemm.yaml",
                 kYaml +
                     "params: {CASE: {range: [0, 5]}}, launch: {args: [A, B, C, m, n, k]},\n"
                     "build: {flags: [-fconstexpr-loop-limit=2147483647, -fconstexpr-ops-limit=2147483647]}}\n");
  EXPECT_EQ(tune({"--timeout-build", "4"}).code, 0);
  expect_outcomes(cases);
  EXPECT_TRUE(eventually([&] { return sandbox_.processes().empty(); }));
}

}  // namespace
}  // namespace tune::cli::cli_fault_test
