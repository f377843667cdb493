// C = A * B in single precision, for any sizes: tiles of MR x NR, whose sums stay in registers, by `threads` threads.
// A binary that was built for one size is right for all others too, because nothing in it depends on the sizes.
#if !defined(MR) || !defined(NR)
#error "needs -DMR=... -DNR=..., for example 4 and 16"
#endif

namespace {

int least(int a, int b) { return a < b ? a : b; }

}  // namespace

extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int i = 0; i < m; i += MR)
    for (int j = 0; j < n; j += NR) {
      const int rows = least(MR, m - i), cols = least(NR, n - j);
      float sum[MR][NR] = {};
      for (int p = 0; p < k; ++p)
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < cols; ++c)
            sum[r][c] += A[(i + r) * static_cast<long>(k) + p] * B[p * static_cast<long>(n) + j + c];
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) C[(i + r) * static_cast<long>(n) + j + c] = sum[r][c];
    }
}
