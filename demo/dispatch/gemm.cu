// C = A * B in single precision, for any sizes: a block computes TILE x TILE elements, a thread one of them, from tiles
// of A and B in shared memory. A binary that was built for one size is right for all others too.
#ifndef TILE
#error "needs -DTILE=..., for example 16"
#endif

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int m, int n, int k) {
  __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int p = 0; p < k; p += TILE) {
    const int of_a = p + threadIdx.x, of_b = p + threadIdx.y;
    a[threadIdx.y][threadIdx.x] = row < m && of_a < k ? A[static_cast<long long>(row) * k + of_a] : 0;
    b[threadIdx.y][threadIdx.x] = of_b < k && col < n ? B[static_cast<long long>(of_b) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) C[static_cast<long long>(row) * n + col] = sum;
}
