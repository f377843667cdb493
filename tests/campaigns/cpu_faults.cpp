#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "faults.h"

namespace tune::campaigns {

const char* const kCpuHead = R"(
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cfenv>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <thread>
static volatile int launches = 0, zero = 0;
static volatile float sink;
static jmp_buf never_set;
static int deep(int n) { volatile char room[4096]; room[0] = 1; return n < 0 ? 0 : deep(n + 1) + room[0]; }
static void tree(int depth) { for (int i = 0; depth > 0 && i < 3; ++i) if (fork() == 0) { tree(depth - 1); for (;;) pause(); } }
static void scribble() {
  FILE* maps = fopen("/proc/self/maps", "r");
  for (char line[512]; maps && fgets(line, sizeof line, maps);) {
    unsigned long begin, end;
    if (strstr(line, "tune-kernel") && strstr(line, "rw-s") && sscanf(line, "%lx-%lx", &begin, &end) == 2)
      memset((void*)begin, 0xff, end - begin);
  }
}
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int spec) {
  launches = launches + 1;
  const bool first = launches == 1;
  auto right = [&] {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
      }
  };
  switch (spec) {
)";

std::vector<Fault> cpu_faults() {
  return {
      // It ends its process.
      {"a null pointer", "*(volatile int*)zero = 1;", "check, crashed: killed by signal 11 (segmentation fault)"},
      {"a write far outside", "right(); C[1 << 20] = 0;",
       "check, reported: segmentation fault: the kernel wrote past the end of C, at byte +4193280", true},
      {"a read far outside", "right(); sink = B[-(1 << 20)];",
       "check, reported: segmentation fault: the kernel read before the start of B, at byte -4194304"},
      {"abort", "abort();", "check, crashed: killed by signal 6 (aborted)", true},
      {"an illegal instruction", "__builtin_trap();",
       "check, crashed: killed by signal 4|check, crashed: killed by signal 5"},
      {"a division by zero", "sink = 1 / zero;", "check, crashed: killed by signal 8|check, reported: C was not fully"},
      {"a stack overflow", "sink = deep(0);", "check, reported: stack overflow: ", true},
      {"an exception", "throw std::runtime_error(\"of its own\");", "check, reported: of its own", true},
      {"a thrown number", "throw 42;", "check, reported: the kernel threw what is no std::exception"},
      {"an exception in a thread", "std::thread([] { throw 1; }).join();", "check, crashed: killed by signal 6"},
      {"a longjmp to nowhere", "longjmp(never_set, 1);", "check, crashed: killed by signal "},
      {"SIGKILL to itself", "right(); kill(getpid(), SIGKILL);", "check, crashed: killed by signal 9"},
      {"exit(0)", "right(); exit(0);", "check, protocol: the process ended with exit code 0 but without a result",
       true},
      {"_exit(0)", "right(); _exit(0);", "check, protocol: the process ended with exit code 0 but without a result"},
      {"_exit(0) later", "right(); if (launches == 3) _exit(0);",
       "measure, protocol: the process ended with exit code 0"},
      {"_exit(0) in a thread",
       "right(); if (first) std::thread([] { usleep(20000); _exit(0); }).detach(); usleep(9000);",
       "measure, protocol: the process ended with exit code 0|check, protocol: the process ended with exit code 0"},
      {"exit(3)", "right(); exit(3);", "check, crashed: exit code 3"},
      {"abort in the third launch", "right(); if (launches == 3) abort();", "measure, crashed: killed by signal 6"},
      {"another program", "execl(\"/bin/true\", \"true\", (char*)0);",
       "check, protocol: the process ended with exit code 0"},
      // Where a filter is in force already, it is refused.
      {"strict seccomp", "right(); prctl(PR_SET_SECCOMP, 1);", "check, crashed: killed by signal 9|measured"},
      {"an alarm", "alarm(1); for (;;) pause();", "check, crashed: killed by signal 14"},
      {"a protected C", "right(); mprotect(C, 4096, PROT_READ);", "measure, crashed: killed by signal 11"},
      {"an unmapped C", "right(); munmap(C, 4096);", "measure, crashed: killed by signal 11"},
      // It does not end.
      {"an endless loop", "for (;;) sink = 1;", "check, timed out: no answer within 2 s", true},
      {"a pause", "for (;;) pause();", "check, timed out: no answer within 2 s"},
      {"an endless third launch", "right(); while (launches == 3) pause();",
       "measure, timed out: no answer within 2 s"},
      {"all signals blocked, and a loop",
       "sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, 0); for (;;) pause();",
       "check, timed out: no answer within 2 s"},
      {"a fault that is handled for ever", "signal(SIGSEGV, [](int) {}); *(volatile int*)zero = 1;",
       "check, timed out: no answer within 2 s"},
      {"another program that sleeps", "execl(\"/bin/sleep\", \"sleep\", \"1000\", (char*)0);",
       "check, timed out: no answer within 2 s"},
      {"a stop of itself", "right(); raise(SIGSTOP);", "check, timed out: no answer within 2 s"},
      {"ptrace", "right(); ptrace(PTRACE_TRACEME, 0, 0, 0);",
       "check, reported: the kernel's process lets itself be traced"},
      {"an endless flood", "for (static char text[1 << 16];;) if (write(2, text, sizeof text) < 0) abort();",
       "check, timed out: no answer within 2 s"},
      // It takes what it can get.
      {"all memory",
       "for (void* p; (p = malloc(16 << 20));) memset(p, launches, 16 << 20), sink = *(char*)p; throw "
       "std::bad_alloc();",
       "check, reported: out of memory: its process may take 256 MiB (--memory)", true},
      {"all memory of malloc",
       "for (void* p; (p = malloc(16 << 20));) memset((void*)p, launches, 16 << 20), sink = *(char*)p; abort();",
       "check, crashed: killed by signal 6"},
      {"a tree of processes", "right(); if (first) tree(4);", "check, reported: the kernel started a process", true},
      {"a child in a session of its own", "right(); if (first && fork() == 0) { setsid(); sleep(1); _exit(0); }",
       "check, reported: the kernel started a process"},
      {"twenty threads", "right(); for (int i = 0; first && i < 20; ++i) std::thread([] { pause(); }).detach();",
       "measured"},
      {"all descriptors", "right(); while (first && open(\"/dev/null\", O_RDONLY) >= 0) {}", "measured"},
      {"a flood of output",
       "right(); static char text[1 << 20]; for (int i = 0; first && i < 64; ++i) "
       "if (write(1 + i % 2, text, sizeof text) < 0) abort();",
       "measured", true},
      // It changes what it runs in.
      {"all descriptors closed", "right(); for (int fd = 0; fd < 1024; ++fd) close(fd);", "measured", true},
      {"another folder, mask and environment", "right(); if (chdir(\"/\") != 0) abort(); umask(0777); clearenv();",
       "measured"},
      {"limits of nothing",
       "right(); rlimit none = {0, 0}; for (int i : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_STACK, RLIMIT_AS}) "
       "setrlimit((__rlimit_resource)i, &none);",
       "measured"},
      {"all signals blocked", "right(); sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, 0);",
       "measured"},
      {"process controls",
       "right(); prctl(PR_SET_DUMPABLE, 0); prctl(PR_SET_NAME, \"tune\"); prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);",
       "measured"},
      {"another rounding mode", "right(); fesetround(FE_UPWARD);", "measured", true},
      {"arithmetic that traps", "right(); feclearexcept(FE_ALL_EXCEPT); feenableexcept(FE_ALL_EXCEPT);", "measured"},
      {"an emptied scratch folder",
       "right(); if (first) for (auto& entry : std::filesystem::directory_iterator(getenv(\"TMPDIR\"))) "
       "std::filesystem::remove_all(entry);",
       "measured"},
      {"a command", "right(); if (first && system(\"true\") < 0) abort();",
       "check, reported: the kernel started a process"},
      {"scribbling over all that is shared", "right(); scribble();", "*"},
      // It computes something else.
      {"nothing", "", "check, reported: C was not fully written", true},
      {"NaN", "for (int i = 0; i < m * n; ++i) C[i] = __builtin_nanf(\"\");", "check, reported: wrong result in C"},
      {"one wrong element", "right(); C[77] += 1;", "check, reported: wrong result in C"},
      {"one wrong launch in the middle", "right(); if (launches == 5) C[3] += 1;", "check, reported: wrong result in C",
       true},
      {"heap memory that nobody wrote", "float* sums = (float*)malloc(1 << 20); right(); C[0] += sums[0]; free(sums);",
       "check, reported: wrong result in C", true},
      {"an input", "right(); const_cast<float*>(A)[3] += 1;", "check, reported: input A was overwritten at element 3"},
      {"a byte behind C", "right(); ((char*)C)[4 * m * n] = 0;",
       "check, reported: guard band hit: 1 byte written past the end of C"},
      {"a thread that goes on writing",
       "right(); if (first) std::thread([=] { for (;;) { C[0] = 7; usleep(50); } }).detach(); usleep(300); ",
       "check, reported: wrong result in C|check, reported: the kernel's process went on|measured"},
  };
}

std::vector<Fault> cpu_strict_faults() {
  return {
      {"a read past A", "right(); sink = A[m * k];",
       "check, reported: segmentation fault: the kernel read past the end of A, at byte +0", true},
      {"a read before A", "right(); sink = A[-1];",
       "check, reported: segmentation fault: the kernel read before the start of A, at byte -4"},
      {"a read past B", "right(); sink = B[n * k];",
       "check, reported: segmentation fault: the kernel read past the end of B, at byte +0"},
      {"a read before B", "right(); sink = B[-1];",
       "check, reported: segmentation fault: the kernel read before the start of B, at byte -4", true},
      {"a read past C", "right(); sink = C[m * n];",
       "check, reported: segmentation fault: the kernel read past the end of C, at byte +0"},
      {"a read before C", "right(); sink = C[-1];",
       "check, reported: segmentation fault: the kernel read before the start of C, at byte -4"},
      {"a write past C", "right(); C[m * n] = 0;",
       "check, reported: guard band hit: 4 bytes written past the end of C"},
      {"a write before C", "right(); C[-1] = 0;",
       "check, reported: segmentation fault: the kernel wrote before the start of C, at byte -4"},
  };
}

std::vector<Fault> cpu_signals() {
  static std::map<int, std::string> codes;
  const std::string before = "right(); if (launches == 2) ";
  std::vector<Fault> faults;
  for (int signal = 1; signal <= 64; ++signal) {
    if (signal == 32 || signal == 33) continue;  // the C library's own
    const std::string& code = codes[signal] = before + "raise(" + std::to_string(signal) + ");";
    // By SIGSYS the system ends a process that asks for what kernels may not do, and that is taken for the reason.
    const char* outcome = signal == SIGSYS
                              ? "check, reported: the kernel started a process"
                              : "measure, crashed: killed by signal |measured|measure, timed out: no answer within 2 s";
    faults.push_back({code.c_str() + before.size(), code.c_str(), outcome});
  }
  return faults;
}

}  // namespace tune::campaigns
