// A blocked matrix product with threads of its own.
#include <omp.h>

namespace {
inline int lesser(int a, int b) { return a < b ? a : b; }
}  // namespace

extern "C" void gemm(const double* a, const double* b, double* c, int m, int n, int k, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int i0 = 0; i0 < m; i0 += BLOCK_M) {
    for (int i = i0; i < lesser(m, i0 + BLOCK_M); ++i)
      for (int j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int k0 = 0; k0 < k; k0 += BLOCK_K)
      for (int i = i0; i < lesser(m, i0 + BLOCK_M); ++i)
        for (int p = k0; p < lesser(k, k0 + BLOCK_K); ++p)
          for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
