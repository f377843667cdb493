// Kernels that go wrong in one way each; f32, row-major, C = A*B with A m x k, B k x n.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace {

constexpr float kNan = __builtin_nanf("");  // <cmath> takes longer to compile than all the rest

// Not inlined into each kernel, so that these compile quickly.
[[gnu::noinline]] void multiply(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}

struct Complaint : std::exception {
  const char* what() const noexcept override { return "the kernel's own words"; }
};

}  // namespace

#define KERNEL(name)                                                                                             \
  void name##_after(const float*, const float*, float*, int, int, int);                                          \
  extern "C" void name(const float* A, const float* B, float* C, int m, int n, int k) {                          \
    multiply(A, B, C, m, n, k);                                                                                  \
    name##_after(A, B, C, m, n, k);                                                                              \
  }                                                                                                              \
  void name##_after([[maybe_unused]] const float* A, [[maybe_unused]] const float* B, [[maybe_unused]] float* C, \
                    [[maybe_unused]] int m, [[maybe_unused]] int n, [[maybe_unused]] int k)

KERNEL(right) {}
KERNEL(writes_past_the_end) { std::memset(C + m * n, 0, 12); }
KERNEL(writes_before_the_start) { C[-1] = 0; }
KERNEL(writes_far_outside) { C[m * n + (1 << 20)] = 0; }
KERNEL(overwrites_an_input) { const_cast<float*>(B)[17] += 1; }
KERNEL(is_all_nan) {
  for (int i = 0; i < m * n; ++i) C[i] = kNan;
}
KERNEL(is_right_once) {
  static bool again = false;
  if (again) C[3] += 1;
  again = true;
}
KERNEL(crashes) { std::raise(SIGSEGV); }
KERNEL(aborts) { std::abort(); }
KERNEL(exits) { std::exit(0); }
KERNEL(leaves) { ::_exit(0); }
KERNEL(throws) { throw Complaint(); }
KERNEL(hangs) {
  for (;;) ::pause();
}
KERNEL(prints_garbage) {
  std::printf("{\"event\": \"measured\"}\n");
  std::fflush(stdout);
  const char text[] = "garbage\n";
  [[maybe_unused]] auto written = ::write(1, text, sizeof text - 1);
}
KERNEL(reads_stdin) {
  if (std::getchar() != EOF) C[0] = kNan;
}

/// Adds to C, which somebody else has to have zeroed.
extern "C" void adds(const float* A, const float* B, float* C, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) C[i * n + j] += A[i * k + p] * B[p * n + j];
}

/// Likewise with a workspace of m*n floats, by two launches.
extern "C" void adds_to_workspace(const float* A, const float* B, void* workspace, int m, int n, int k) {
  adds(A, B, static_cast<float*>(workspace), m, n, k);
}
extern "C" void copies(const void* workspace, float* C, int m, int n) {
  std::memcpy(C, workspace, sizeof(float) * static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
}
