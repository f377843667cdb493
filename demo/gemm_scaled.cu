// C = A * B of fp8 matrices with scales, on the CUDA cores. A is row-major, B column-major, C row-major and bf16 or
// f32, and all are tight. scales.h says which scales there are.
//
// A block computes a tile of C, BM x BN; a thread TM x TN elements of it, in registers. Slices of A and B, BK wide, lie
// in shared memory as floats that are multiplied by their scales already, while the bytes of the next slices are on
// their way from global memory through registers.
//
//   block_size_x, block_size_y   threads of a block: BN = block_size_x*TN, BM = block_size_y*TM
//   TM, TN                       elements per thread, block_size_y and block_size_x apart
//   BK                           width of a slice, a divisor of 128
//   EXACT                        1: the sizes are multiples of the tile, and nothing has to be checked

#if !defined(block_size_x) || !defined(block_size_y) || !defined(TM) || !defined(TN) || !defined(BK)
#error \
    "needs -D of block_size_x block_size_y TM TN BK, for example 16 16 8 8 32, and of scales; see the head of the file"
#endif
#include "scales.h"

#ifndef EXACT
#define EXACT 0
#endif

namespace {

constexpr int kThreads = block_size_x * block_size_y;
constexpr int kRows = block_size_y * TM, kCols = block_size_x * TN;

static_assert(BK % 4 == 0 && 128 % BK == 0, "elements of a slice's line share a scale, and are loaded in fours");

/// A slice in shared memory, transposed; the padding keeps its stores out of each other's banks.
template <int kLines>
struct Slice {
  float at[BK][kLines + 1];
};

/// What one thread carries from global to shared memory: four neighbours of a line each.
template <int kLines>
struct Freight {
  static constexpr int kWords = kLines * BK / 4, kCount = (kWords + kThreads - 1) / kThreads;
  unsigned words[kCount];

  template <typename Matrix>
  __device__ __forceinline__ void fetch(const Matrix& matrix, int first, int p, int thread) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int word = thread + i * kThreads, line = first + word / (BK / 4), q = p + word % (BK / 4) * 4;
      words[i] = 0;
      if (word >= kWords || (!EXACT && line >= matrix.lines)) continue;
      const unsigned char* from = matrix.data + static_cast<long long>(line) * matrix.k + q;
      if (EXACT || (q + 4 <= matrix.k && matrix.k % 4 == 0)) {
        words[i] = *reinterpret_cast<const unsigned*>(from);
      } else {
        for (int j = 0; j < 4; ++j)
          if (q + j < matrix.k) words[i] |= static_cast<unsigned>(from[j]) << 8 * j;
      }
    }
  }

  template <typename Matrix>
  __device__ __forceinline__ void deliver(const Matrix& matrix, int first, int p, int thread,
                                          Slice<kLines>& slice) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int word = thread + i * kThreads, line = word / (BK / 4), q = word % (BK / 4) * 4;
      if (word >= kWords) continue;
      const float factor = EXACT || first + line < matrix.lines ? matrix.factor(first + line, p + q) : 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) slice.at[q + j][line] = factor * Matrix::unscaled(words[i] >> 8 * j & 0xff);
    }
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, Result* __restrict__ c, int m, int n,
         int k, const float* __restrict__ scale_a, int ld_scale_a, const float* __restrict__ scale_b, int ld_scale_b) {
  __shared__ Slice<kRows> slice_a;
  __shared__ Slice<kCols> slice_b;
  const ScaledA left = {a, m, k, scale_a, ld_scale_a};
  const ScaledB right = {b, n, k, scale_b, ld_scale_b};
  const int x = threadIdx.x, y = threadIdx.y, thread = y * block_size_x + x;
  const int row = static_cast<int>(blockIdx.y) * kRows, col = static_cast<int>(blockIdx.x) * kCols;
  Freight<kRows> freight_a;
  Freight<kCols> freight_b;
  freight_a.fetch(left, row, 0, thread);
  freight_b.fetch(right, col, 0, thread);
  float sum[TM][TN] = {};
  for (int p = 0; p < k; p += BK) {
    freight_a.deliver(left, row, p, thread, slice_a);
    freight_b.deliver(right, col, p, thread, slice_b);
    __syncthreads();
    if (p + BK < k) {
      freight_a.fetch(left, row, p + BK, thread);
      freight_b.fetch(right, col, p + BK, thread);
    }
#pragma unroll 8
    for (int q = 0; q < BK; ++q) {
      float of_a[TM], of_b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) of_a[i] = slice_a.at[q][y + i * block_size_y];
#pragma unroll
      for (int j = 0; j < TN; ++j) of_b[j] = slice_b.at[q][x + j * block_size_x];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] = fmaf(of_a[i], of_b[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int to_row = row + y + i * block_size_y, to_col = col + x + j * block_size_x;
      if (EXACT || (to_row < m && to_col < n)) c[static_cast<long long>(to_row) * n + to_col] = result(sum[i][j]);
    }
}
