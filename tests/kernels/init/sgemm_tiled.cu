// C = alpha A B + beta C with a tile of BM x BN sums in a block and TM x TN in a thread.
constexpr int kThreads = (BM / TM) * (BN / TN);

extern "C" __global__ void __launch_bounds__((BM / TM) * (BN / TN))
    sgemm(int m, int n, int k, float alpha, const float* A, const float* B, float beta, float* C) {
  __shared__ float as[BK][BM], bs[BK][BN];
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN);
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += kThreads) {
      const int row = row0 + i / BK, col = k0 + i % BK;
      as[i % BK][i / BK] = row < m && col < k ? A[row * k + col] : 0.0f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += kThreads) {
      const int row = k0 + i / BN, col = col0 + i % BN;
      bs[i / BN][i % BN] = row < k && col < n ? B[row * n + col] : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < BK; ++p)
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) acc[i][j] += as[p][ty * TM + i] * bs[p][tx * TN + j];
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty * TM + i, col = col0 + tx * TN + j;
      if (row < m && col < n) C[row * n + col] = alpha * acc[i][j] + beta * C[row * n + col];
    }
}
