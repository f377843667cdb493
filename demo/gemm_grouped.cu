// Groups of rows, each times a matrix of its own, on the CUDA cores: rows offsets[e] to offsets[e + 1] of C are those
// of A times B[e]. A and C are row-major, each B column-major, all are tight, and bf16 or f32.
//
// A block computes a tile of C, BM x BN, that no group's end crosses; a thread TM x TN elements of it, in registers.
// The host need not know how many rows the groups have: there are m/BM + groups rows of blocks, which always suffice,
// and those that find no tile leave. Slices of A and B, BK wide, lie in shared memory as floats, while the next slices
// are on their way from global memory through registers.
//
//   block_size_x, block_size_y   threads of a block: BN = block_size_x*TN, BM = block_size_y*TM
//   TM, TN                       elements per thread, block_size_y and block_size_x apart
//   BK                           width of a slice, a multiple of 4
//   EXACT                        1: n and k are multiples of BN and BK, and nothing has to be checked but rows
//   type_a_bf16, type_a_f32      type of A, B and C

#if !defined(block_size_x) || !defined(block_size_y) || !defined(TM) || !defined(TN) || !defined(BK)
#error "needs -D of block_size_x block_size_y TM TN BK, for example 16 16 8 8 32; see the head of the file"
#endif
#ifndef EXACT
#define EXACT 0
#endif

namespace {

constexpr int kThreads = block_size_x * block_size_y;
constexpr int kRows = block_size_y * TM, kCols = block_size_x * TN;

static_assert(BK % 4 == 0, "elements are loaded in fours");

#ifdef type_a_f32
using Number = float;
struct alignas(16) Four {
  float at[4];
};
__device__ __forceinline__ float widened(float x) { return x; }
__device__ __forceinline__ float narrowed(float x) { return x; }
#else
using Number = unsigned short;
struct alignas(8) Four {
  unsigned short at[4];
};
__device__ __forceinline__ float widened(unsigned short x) {
  return __builtin_bit_cast(float, static_cast<unsigned>(x) << 16);
}
/// The bits of the nearest bf16.
__device__ __forceinline__ unsigned short narrowed(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  return static_cast<unsigned short>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
#endif

/// The rows of a tile, and the matrix that they are multiplied by.
struct Rows {
  int group, first, count;  ///< count 0: there is no such tile
};

__device__ Rows rows_of_tile(int number, const int* offsets, int groups) {
  for (int group = 0; group < groups; ++group) {
    const int rows = offsets[group + 1] - offsets[group], tiles = (rows + kRows - 1) / kRows;
    if (number < tiles) return {group, offsets[group] + number * kRows, min(kRows, rows - number * kRows)};
    number -= tiles;
  }
  return {0, 0, 0};
}

/// A slice in shared memory, transposed; the padding keeps its stores out of each other's banks.
template <int kLines>
struct Slice {
  float at[BK][kLines + 1];
};

/// What one thread carries from global to shared memory: four neighbours of a line each.
template <int kLines>
struct Freight {
  static constexpr int kFours = kLines * BK / 4, kCount = (kFours + kThreads - 1) / kThreads;
  Four fours[kCount];

  /// `lines` of k neighbours each; without `all` the slice has more.
  __device__ __forceinline__ void fetch(const Number* data, int lines, bool all, int k, int p, int thread) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int four = thread + i * kThreads, line = four / (BK / 4), q = p + four % (BK / 4) * 4;
      fours[i] = {};
      if (four >= kFours || (!all && line >= lines)) continue;
      const Number* from = data + static_cast<long long>(line) * k + q;
      if (EXACT || (q + 4 <= k && k % 4 == 0)) {
        fours[i] = *reinterpret_cast<const Four*>(from);
      } else {
        for (int j = 0; j < 4; ++j)
          if (q + j < k) fours[i].at[j] = from[j];
      }
    }
  }

  __device__ __forceinline__ void deliver(int thread, Slice<kLines>& slice) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int four = thread + i * kThreads;
      if (four >= kFours) continue;
#pragma unroll
      for (int j = 0; j < 4; ++j) slice.at[four % (BK / 4) * 4 + j][four / (BK / 4)] = widened(fours[i].at[j]);
    }
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const Number* __restrict__ a, const Number* __restrict__ b, Number* __restrict__ c, int n, int k,
         const int* __restrict__ offsets, int groups) {
  __shared__ Slice<kRows> slice_a;
  __shared__ Slice<kCols> slice_b;
  const Rows rows = rows_of_tile(static_cast<int>(blockIdx.y), offsets, groups);
  if (rows.count == 0) return;
  const int x = threadIdx.x, y = threadIdx.y, thread = y * block_size_x + x;
  const int col = static_cast<int>(blockIdx.x) * kCols;
  a += static_cast<long long>(rows.first) * k;
  b += (static_cast<long long>(rows.group) * n + col) * k;
  c += static_cast<long long>(rows.first) * n + col;
  Freight<kRows> freight_a;
  Freight<kCols> freight_b;
  freight_a.fetch(a, rows.count, rows.count == kRows, k, 0, thread);
  freight_b.fetch(b, n - col, EXACT, k, 0, thread);
  float sum[TM][TN] = {};
  for (int p = 0; p < k; p += BK) {
    freight_a.deliver(thread, slice_a);
    freight_b.deliver(thread, slice_b);
    __syncthreads();
    if (p + BK < k) {
      freight_a.fetch(a, rows.count, rows.count == kRows, k, p + BK, thread);
      freight_b.fetch(b, n - col, EXACT, k, p + BK, thread);
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
      const int row = y + i * block_size_y, to = x + j * block_size_x;
      if (row < rows.count && (EXACT || col + to < n)) c[static_cast<long long>(row) * n + to] = narrowed(sum[i][j]);
    }
}
