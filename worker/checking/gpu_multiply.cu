// The multiplication of the reference on a GPU, apart from gpu_kernels.cu: it is compiled in full, the others quickly.
// Compiled at run time for the device at hand.

constexpr int kTile = 64, kDepth = 16, kPart = 4;  // of C per block, of k at a time, of C per thread in each direction

/// c[m,n] = a[m,k] * b[k,n], all tight and row-major; 16 x 16 threads. Sums kDepth products, then adds the sums, which
/// keeps the rounding errors of long sums apart from each other.
extern "C" __global__ void __launch_bounds__(256)
    tune_multiply(const double* a, const double* b, double* c, long long m, long long n, long long k) {
  __shared__ double a_tile[kDepth][kTile + 1], b_tile[kDepth][kTile];
  const int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
  const long long row = blockIdx.y * static_cast<long long>(kTile), col = blockIdx.x * static_cast<long long>(kTile);
  double total[kPart][kPart] = {};
  for (long long p = 0; p < k; p += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int a_row = i / kDepth, a_col = i % kDepth, b_row = i / kTile, b_col = i % kTile;
      const bool a_inside = row + a_row < m && p + a_col < k, b_inside = p + b_row < k && col + b_col < n;
      a_tile[a_col][a_row] = a_inside ? a[(row + a_row) * k + p + a_col] : 0;
      b_tile[b_row][b_col] = b_inside ? b[(p + b_row) * n + col + b_col] : 0;
    }
    __syncthreads();
    double sum[kPart][kPart] = {};
#pragma unroll
    for (int q = 0; q < kDepth; ++q)
#pragma unroll
      for (int i = 0; i < kPart; ++i)
#pragma unroll
        for (int j = 0; j < kPart; ++j) sum[i][j] = fma(a_tile[q][y + 16 * i], b_tile[q][x + 16 * j], sum[i][j]);
#pragma unroll
    for (int i = 0; i < kPart; ++i)
#pragma unroll
      for (int j = 0; j < kPart; ++j) total[i][j] += sum[i][j];
    __syncthreads();
  }
  for (int i = 0; i < kPart; ++i)
    for (int j = 0; j < kPart; ++j)
      if (row + y + 16 * i < m && col + x + 16 * j < n) c[(row + y + 16 * i) * n + col + x + 16 * j] = total[i][j];
}
