// C = A * B on the CUDA cores, with scales of fp8, or with groups of rows that are multiplied by a matrix each, or with
// both. A is row-major, B column-major, C row-major, and all are tight. operands.h says which types, scales and groups
// there are.
//
// A block computes a tile of C, BM x BN, that no group's end crosses; a thread TM x TN elements of it, in registers.
// The host need not know how many rows the groups have: there are m/BM + groups rows of blocks, which always suffice,
// and those that find no tile leave. Slices of A and B, BK wide, lie in shared memory as floats that are multiplied by
// their scales already, while the next slices are on their way from global memory through registers.
//
//   block_size_x, block_size_y   threads of a block: BN = block_size_x*TN, BM = block_size_y*TM
//   TM, TN                       elements per thread, block_size_y and block_size_x apart
//   BK                           width of a slice: a multiple of 4, and with scales a divisor of 128
//   EXACT                        1: n and k are multiples of BN and BK, and nothing has to be checked but rows

#if !defined(block_size_x) || !defined(block_size_y) || !defined(TM) || !defined(TN) || !defined(BK)
#error "needs -D of block_size_x block_size_y TM TN BK, for example 16 16 8 8 32; see the head of the file"
#endif
#include "operands.h"

#ifndef EXACT
#define EXACT 0
#endif

namespace {

constexpr int kThreads = block_size_x * block_size_y;
constexpr int kRows = block_size_y * TM, kCols = block_size_x * TN;

static_assert(BK % 4 == 0 && (!HAS_SCALES || 128 % BK == 0), "elements share a scale in fours, and are loaded so");

/// Four neighbours of a line.
struct alignas(4 * sizeof(Element)) Four {
  Element at[4];
};

/// The rows of a tile, and the matrix that they are multiplied by.
struct Rows {
  int group, first, count;  ///< count 0: there is no such tile
};

__device__ Rows rows_of_tile(int number, const Groups& groups) {
  for (int group = 0; group < groups.count; ++group) {
    const int rows = groups.rows(group), tiles = (rows + kRows - 1) / kRows;
    if (number < tiles) return {group, groups.first(group) + number * kRows, min(kRows, rows - number * kRows)};
    number -= tiles;
  }
  return {0, 0, 0};
}

/// A slice in shared memory, transposed; the padding keeps its stores out of each other's banks.
template <int kLines>
struct Slice {
  float at[BK][kLines + 1];
};

/// What one thread carries from global to shared memory, of kLines lines from `first` on, of which there are `count`.
template <int kLines>
struct Freight {
  static constexpr int kFours = kLines * BK / 4, kCount = (kFours + kThreads - 1) / kThreads;
  Four fours[kCount];
  int first, count;

  template <typename Matrix>
  __device__ __forceinline__ void fetch(const Matrix& matrix, int p, int thread) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int four = thread + i * kThreads, line = four / (BK / 4), q = p + four % (BK / 4) * 4;
      fours[i] = {};
      if (four >= kFours || line >= count) continue;
      const Element* from = matrix.data + static_cast<long long>(first + line) * matrix.k + q;
      if (EXACT || (q + 4 <= matrix.k && matrix.k % 4 == 0)) {
        fours[i] = *reinterpret_cast<const Four*>(from);
      } else {
        for (int j = 0; j < 4; ++j)
          if (q + j < matrix.k) fours[i].at[j] = from[j];
      }
    }
  }

  template <typename Matrix>
  __device__ __forceinline__ void deliver(const Matrix& matrix, int p, int thread, Slice<kLines>& slice) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int four = thread + i * kThreads, line = four / (BK / 4), q = four % (BK / 4) * 4;
      if (four >= kFours) continue;
      const float factor = line < count && p + q < matrix.k ? matrix.factor(first + line, p + q) : 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) slice.at[q + j][line] = factor * Matrix::unscaled(fours[i].at[j]);
    }
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const Element* __restrict__ a, const Element* __restrict__ b, Result* __restrict__ c, int m, int n, int k,
         int ld_scale_a, int ld_scale_b, int groups, int max_rows
#if HAS_SCALES
         ,
         const float* __restrict__ scale_a, const float* __restrict__ scale_b
#endif
#if HAS_GROUPS
         ,
         const int* __restrict__ list
#endif
    ) {
  __shared__ Slice<kRows> slice_a;
  __shared__ Slice<kCols> slice_b;
#if HAS_SCALES
  const OperandA left = {a, k, scale_a, ld_scale_a};
  const OperandB all_right = {b, k, scale_b, ld_scale_b};
#else
  const OperandA left = {a, k};
  const OperandB all_right = {b, k};
#endif
#if HAS_GROUPS
  const Groups all = {list, groups, max_rows, m};
#else
  const Groups all = {nullptr, 1, m, m};
#endif
  // One dimension of blocks, because a grid has at most 65535 in the second.
  const int across = (n + kCols - 1) / kCols, col = static_cast<int>(blockIdx.x % across) * kCols;
  const Rows rows = rows_of_tile(static_cast<int>(blockIdx.x / across), all);
  if (rows.count == 0) return;
  const OperandB right = all_right.of(rows.group, n);
  const int x = threadIdx.x, y = threadIdx.y, thread = y * block_size_x + x;
  Freight<kRows> freight_a;
  Freight<kCols> freight_b;
  freight_a.first = rows.first;
  freight_a.count = rows.count;
  freight_b.first = col;
  freight_b.count = EXACT ? kCols : n - col;
  freight_a.fetch(left, 0, thread);
  freight_b.fetch(right, 0, thread);
  float sum[TM][TN] = {};
  for (int p = 0; p < k; p += BK) {
    freight_a.deliver(left, p, thread, slice_a);
    freight_b.deliver(right, p, thread, slice_b);
    __syncthreads();
    if (p + BK < k) {
      freight_a.fetch(left, p + BK, thread);
      freight_b.fetch(right, p + BK, thread);
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
      const int row = y + i * block_size_y, to = col + x + j * block_size_x;
      if (row < rows.count && (EXACT || to < n))
        c[static_cast<long long>(rows.first + row) * n + to] = result(sum[i][j]);
    }
}
