// C = A * B in single precision on the CUDA cores. All matrices are row-major and tight.
//
// A block computes a tile of C, BM x BN; a thread TM x TN elements of it, in registers. Slices of A and B, BK wide, lie
// in shared memory, two at a time: while one is multiplied, the next is on its way from global memory through
// registers into the other, so that one barrier per slice is enough. A's slice is stored transposed, so that both are
// read as vectors of up to four floats, and each step of k reads the operands of the next one before it multiplies.
//
//   block_size_x, block_size_y   threads of a block: BN = block_size_x*TN, BM = block_size_y*TM
//   TM, TN                       elements per thread: TM*TN sums and TM + TN operands have to fit the registers
//   BK                           width of a slice
//   UNROLL                       steps of k per round of the inner loop
//   BLOCKS                       blocks per multiprocessor that the compiler has to leave registers for; default 1
//   WARP_ROWS                    a warp is 8 x WARP_ROWS threads; default 4
//   EXACT                        1: the sizes are multiples of the tile, and nothing has to be checked
//   epilogue_relu and its like   see hopper/finish.h. With swiglu (TN = 8) half a tile's columns are of the
//                                product's first half, the others of its second: a block computes BM x BN/2 elements
//                                of C
//
// Shared memory, dynamic: 2*BK*(BM + 4 + BN) floats; the 4 keep the transposed stores out of each other's banks.

#if !defined(block_size_x) || !defined(block_size_y) || !defined(TM) || !defined(TN) || !defined(BK) || !defined(UNROLL)
#error "needs -D of block_size_x block_size_y TM TN BK UNROLL, for example 16 16 8 8 16 4; see the head of the file"
#endif
#include "hopper/finish.h"

#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef EXACT
#define EXACT 0
#endif
#ifndef WARP_ROWS
#define WARP_ROWS 4
#endif

namespace {

constexpr int kThreads = block_size_x * block_size_y;
constexpr int kRows = block_size_y * TM, kCols = block_size_x * TN;
constexpr int kPitchA = kRows + 4, kPitchB = kCols;  // floats from one k to the next in shared memory
constexpr int kSlice = BK * (kPitchA + kPitchB);
constexpr int kColumns = IS_SWIGLU ? 2 : 1;  // of B for each of C
constexpr int kUnroll = UNROLL;              // macros are not expanded in `#pragma unroll`

static_assert(block_size_x % 8 == 0 && block_size_y % WARP_ROWS == 0, "warps are 8 x WARP_ROWS threads");
static_assert(BK % 4 == 0 && kRows % 4 == 0 && kCols % 4 == 0, "slices are loaded as vectors of four floats");
static_assert((TM == 2 || TM % 4 == 0) && (TN == 2 || TN % 4 == 0), "a thread reads operands in twos or fours");
static_assert(BK % kUnroll == 0, "a slice is a whole number of rounds");
static_assert(!IS_SWIGLU || TN == 8, "a thread has four elements of each half of swiglu's product");

// Vectors of a slice, and how many of them one thread loads, rounded up.
constexpr int kVectorsA = kRows * BK / 4, kVectorsB = kCols * BK / 4;
constexpr int kLoadsA = (kVectorsA + kThreads - 1) / kThreads, kLoadsB = (kVectorsB + kThreads - 1) / kThreads;

/// How far apart a thread's elements lie: groups of up to four neighbours, so that a warp reads whole lines.
template <int kCount>
struct Split {
  static constexpr int kGroup = kCount < 4 ? kCount : 4, kGroups = kCount / kGroup;
};

/// Four neighbours of a row from `col` on, with zeros beyond the matrix.
__device__ __forceinline__ float4 load(const float* __restrict__ matrix, int row, int col, int rows, int cols) {
  const float* from = matrix + static_cast<long long>(row) * cols + col;
#if IS_SWIGLU  // its second half may begin anywhere
  const bool aligned = cols % 4 == 0 && col % 4 == 0;
#else
  const bool aligned = cols % 4 == 0;
#endif
  if (EXACT || (row < rows && col + 4 <= cols && aligned)) return *reinterpret_cast<const float4*>(from);
  float4 v = {0, 0, 0, 0};
  if (row >= rows) return v;
  if (col < cols) v.x = from[0];
  if (col + 1 < cols) v.y = from[1];
  if (col + 2 < cols) v.z = from[2];
  if (col + 3 < cols) v.w = from[3];
  return v;
}

/// What one thread carries from global to shared memory.
struct Freight {
  float4 a[kLoadsA], b[kLoadsB];
};

struct Problem {
  const float *a, *b;
  int m, n, k;
  int row, col;  ///< of the block's tile of C
};

/// Of a column of the block's tile, its place in B.
__device__ __forceinline__ int column_of_b(const Problem& p, int col) {
#if IS_SWIGLU
  return p.col + col + (col < kCols / 2 ? 0 : p.n - kCols / 2);
#else
  return p.col + col;
#endif
}

__device__ __forceinline__ void fetch(const Problem& p, int slice, int thread, Freight& freight) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int v = thread + i * kThreads;
    if (kVectorsA % kThreads == 0 || v < kVectorsA)
      freight.a[i] = load(p.a, p.row + v / (BK / 4), slice * BK + v % (BK / 4) * 4, p.m, p.k);
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int v = thread + i * kThreads;
    if (kVectorsB % kThreads == 0 || v < kVectorsB)
      freight.b[i] = load(p.b, slice * BK + v / (kCols / 4), column_of_b(p, v % (kCols / 4) * 4), p.k, kColumns * p.n);
  }
}

__device__ __forceinline__ void deliver(const Freight& freight, int thread, float* a, float* b) {
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const int v = thread + i * kThreads, row = v / (BK / 4), k = v % (BK / 4) * 4;
    if (kVectorsA % kThreads != 0 && v >= kVectorsA) continue;
    a[(k + 0) * kPitchA + row] = freight.a[i].x;
    a[(k + 1) * kPitchA + row] = freight.a[i].y;
    a[(k + 2) * kPitchA + row] = freight.a[i].z;
    a[(k + 3) * kPitchA + row] = freight.a[i].w;
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const int v = thread + i * kThreads;
    if (kVectorsB % kThreads == 0 || v < kVectorsB) reinterpret_cast<float4*>(b)[v] = freight.b[i];
  }
}

/// kCount elements from shared memory: groups `apart` floats from each other.
template <int kCount>
__device__ __forceinline__ void read(const float* from, int apart, float (&to)[kCount]) {
  using S = Split<kCount>;
#pragma unroll
  for (int g = 0; g < S::kGroups; ++g) {
    if constexpr (S::kGroup == 4)
      *reinterpret_cast<float4*>(to + 4 * g) = *reinterpret_cast<const float4*>(from + g * apart);
    else
      *reinterpret_cast<float2*>(to + 2 * g) = *reinterpret_cast<const float2*>(from + g * apart);
  }
}

/// Position of a thread's element in the tile: group, then neighbour.
template <int kCount>
__device__ __forceinline__ int place(int thread, int threads, int element) {
  using S = Split<kCount>;
  return element / S::kGroup * (threads * S::kGroup) + thread * S::kGroup + element % S::kGroup;
}

/// The operands of one step of k.
struct Operands {
  alignas(16) float left[TM], right[TN];
};

__device__ __forceinline__ void read(const float* slice, int k, int x, int y, Operands& to) {
  read<TM>(slice + k * kPitchA + place<TM>(y, block_size_y, 0), block_size_y * Split<TM>::kGroup, to.left);
  const float* const b = slice + BK * kPitchA;
  read<TN>(b + k * kPitchB + place<TN>(x, block_size_x, 0), block_size_x * Split<TN>::kGroup, to.right);
}

__device__ __forceinline__ void multiply(const Operands& operands, float (&sum)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] = fmaf(operands.left[i], operands.right[j], sum[i][j]);
}

/// kUnroll steps of k. operands[0] holds those of the first; afterwards, those of the step that follows, which
/// `read_next(step, to)` reads.
template <typename ReadNext>
__device__ __forceinline__ void multiply_steps(Operands (&operands)[2], float (&sum)[TM][TN],
                                               const ReadNext& read_next) {
#pragma unroll
  for (int step = 0; step < kUnroll; ++step) {
    read_next(step, operands[(step + 1) % 2]);
    multiply(operands[step % 2], sum);
  }
  if constexpr (kUnroll % 2 != 0) operands[0] = operands[1];
}

#if HAS_EPILOGUE
/// The sums become elements of C.
__device__ __forceinline__ void finish(const Problem& p, int x, int y, const Epilogue& epilogue, float (&sum)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = p.row + place<TM>(y, block_size_y, i);
    if (!EXACT && row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < TN / kColumns; ++j) {
      const int col = p.col + place<TN>(x, block_size_x, j);
      if (EXACT || col < p.n) sum[i][j] = epilogue.finished(sum[i][j], sum[i][(j + TN / 2) % TN], row, col);
    }
  }
}
#endif

__device__ __forceinline__ void store(const Problem& p, int x, int y, const float (&sum)[TM][TN], float* c) {
  constexpr int kGroup = Split<TN>::kGroup;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = p.row + place<TM>(y, block_size_y, i);
    if (!EXACT && row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < TN / kColumns; j += kGroup) {
      const int col = p.col + place<TN>(x, block_size_x, j);
      float* to = c + static_cast<long long>(row) * p.n + col;
      if (EXACT && kGroup == 4) {
        *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(&sum[i][j]);
      } else {
#pragma unroll
        for (int q = 0; q < kGroup; ++q)
          if (EXACT || col + q < p.n) to[q] = sum[i][j + q];
      }
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k
#if HAS_BIAS
         ,
         const float* __restrict__ bias
#endif
#if HAS_RESIDUAL
         ,
         const float* __restrict__ residual
#endif
    ) {
  extern __shared__ __align__(16) float shared[];
  const int thread = threadIdx.y * block_size_x + threadIdx.x;
  // Warps of 8 x 4 threads read less shared memory than those of 32 x 1.
  constexpr int kWarp = 8 * WARP_ROWS;
  const int warp = thread / kWarp, lane = thread % kWarp;
  const int x = warp % (block_size_x / 8) * 8 + lane % 8, y = warp / (block_size_x / 8) * WARP_ROWS + lane / 8;
  const Problem p = {
      a, b, m, n, k, static_cast<int>(blockIdx.y) * kRows, static_cast<int>(blockIdx.x) * (kCols / kColumns)};
  const int slices = (k + BK - 1) / BK;

  alignas(16) float sum[TM][TN] = {};
  Freight freight;
  fetch(p, 0, thread, freight);
  deliver(freight, thread, shared, shared + BK * kPitchA);
  __syncthreads();
  Operands operands[2];
  read(shared, 0, x, y, operands[0]);
  for (int slice = 0; slice < slices; ++slice) {
    float* const now = shared + slice % 2 * kSlice;
    float* const next = shared + (slice + 1) % 2 * kSlice;
    const bool more = slice + 1 < slices;
    if (more) fetch(p, slice + 1, thread, freight);
#pragma unroll 1
    for (int k = 0; k < BK - kUnroll; k += kUnroll)
      multiply_steps(operands, sum, [&](int step, Operands& to) { read(now, k + step + 1, x, y, to); });
    multiply_steps(operands, sum, [&](int step, Operands& to) {
      if (step + 1 < kUnroll) return read(now, BK - kUnroll + step + 1, x, y, to);
      if (more) deliver(freight, thread, next, next + BK * kPitchA);
      __syncthreads();
      read(next, 0, x, y, to);
    });
  }
#if HAS_EPILOGUE
  const Epilogue epilogue = {BIAS_OR_NULL, RESIDUAL_OR_NULL, n};
  finish(p, x, y, epilogue, sum);
#endif
  store(p, x, y, sum, c);
}
