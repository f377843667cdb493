#include "faults.h"

namespace tune::campaigns {

const char* const kGpuHead = R"(
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP__)
#define TRAP __builtin_trap()
#define assert(condition) if (!(condition)) TRAP
#else
#define TRAP asm("trap;")
#endif
__device__ int calls;
__device__ volatile float sink;
#define BOUNDS
)";

std::vector<Fault> gpu_faults() {
  return {
      {"an illegal write", "C[1LL << 40] = 0;", "check, reported: an illegal memory access was encountered", true},
      {"an illegal read", "right(); sink = A[1LL << 40];", "check, reported: an illegal memory access was encountered"},
      {"a null pointer", "*(volatile int*)(long long)(calls * 0) = 1;",
       "check, reported: an illegal memory access was encountered"},
      {"an illegal write in a later launch", "right(); if (before == 4) C[1LL << 40] = 0;",
       "measure, reported: an illegal memory access was encountered|check, reported: an illegal memory access was "
       "encountered"},
      {"a misaligned address", "*reinterpret_cast<double*>(C + 1) = 0;", "check, reported: misaligned address"},
      {"a trap", "TRAP;", "check, reported: unspecified launch failure", true},
      {"an assertion", "assert(m == 0);", "check, reported: device-side assert triggered"},
      {"an endless kernel", "right(); for (volatile int x = 0;; ++x) {}", "check, timed out: no answer within 5 s",
       true},
      {"a barrier that some never reach",
       "right(); if (threadIdx.x < 40) for (volatile int x = 0;; ++x) {} __syncthreads();",
       "check, timed out: no answer within 5 s"},
      {"a stack overflow", "sink = deep(before); right();", "*", false,
       "__device__ __noinline__ int deep(int n) { volatile int room[256]; room[n & 255] = n; return n < 0 ? 0 : deep(n "
       "+ 1) + room[(n * 7) & 255]; }"},
      {"a flood of lines", "right(); for (int x = 0; x < 2000; ++x) printf(\"%d %d\\n\", x, i);",
       "measured|check, timed out|measure, timed out"},
      {"an endless flood of lines", "right(); for (;;) printf(\"%d\\n\", i);",
       "check, timed out: no answer within 5 s"},
      {"a forged message", "right(); if (threadIdx.x == 0) printf(\"{\\\"event\\\": \\\"measured\\\"}\\n\");",
       "measured"},
      {"more threads than its bounds", "right();", "*", false, "#undef BOUNDS\n#define BOUNDS __launch_bounds__(64)"},
      {"too much dynamic shared memory", "right();", "pruned", false, "", "2**20"},
      {"a workspace beyond all memory", "right();", "load, reported: out of memory on the device", true, "", "0",
       "10**15"},
      {"a variable of 30 GB", "huge[(long long)before << 20] = 1; right();", "?", false,
       "__device__ char huge[30LL << 30];"},
      {"the device's heap", "while (malloc(1 << 16)) {} right();", "measured|check, timed out"},
      {"writes over all that lies around", "right(); for (long long x = 1; x < 1 << 14; ++x) C[-256 * x] = 1;", "*"},
      {"nothing", "", "check, reported: C was not fully written", true},
      {"NaN", "C[threadIdx.x] = 0.0f / 0.0f;", "check, reported: wrong result in C"},
      {"one wrong element", "right(); if (threadIdx.x == 17) C[17] += 1;", "check, reported: wrong result in C"},
      {"one wrong launch in the middle", "right(); if (before == 4 && threadIdx.x == 3) C[3] += 1;",
       "check, reported: wrong result in C"},
      {"work that it does once", "if (before == 0) right();", "check, reported: C was not fully written"},
      {"a byte behind C", "right(); if (threadIdx.x == 0) ((char*)C)[4 * m * n] = 0;",
       "check, reported: guard band hit: "},
      {"an input", "right(); __syncthreads(); if (threadIdx.x == 0) A[5] = 0;",
       "check, reported: input A was overwritten at element 5"},
  };
}

}  // namespace tune::campaigns
