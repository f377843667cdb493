// C = A * B on the tensor cores by mma.sync, for sm_80 and later: bf16 or f16 in, sums in f32, C in bf16, f16 or f32.
// A is row-major; B is K x N, or N x K if TRANSPOSE_B.
//
// The idea: keep global memory, shared memory and the tensor cores busy at once. cp.async brings slices of A and B into
// a ring of NUM_STAGES stages in shared memory without passing through registers; ldmatrix reads the operands of the
// next step of k while mma.sync multiplies those of this one. A block computes BM x BN of C, a warp WM x WN of it.
//
//   BM, BN, WM, WN, BK, NUM_STAGES   as above; BK is the width of a slice
//   TRANSPOSE_B                      1: B is N x K
//   EXACT                            1: the sizes are multiples of the tile, and nothing has to be checked
//   type_a, type_c                   bf16 or f16; bf16, f16 or f32
//
// Shared memory, dynamic: NUM_STAGES*(BM + BN)*BK*2 bytes. Rows of A, B and C must start at multiples of 16 bytes.

#if !defined(BM) || !defined(BN) || !defined(BK) || !defined(WM) || !defined(WN) || !defined(NUM_STAGES)
#error "needs -D of BM BN BK WM WN NUM_STAGES, for example 128 128 32 64 64 4; see the head of the file"
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0
#endif
#ifndef EXACT
#define EXACT 0
#endif
#if type_a_f16
#define OPERAND "f16"
#else
#define OPERAND "bf16"
#endif

#include "hopper/tiles.cuh"

namespace {

using Element = unsigned short;  // bits of a bf16 or f16

constexpr int kWarpsN = BN / WN, kThreads = BM / WM * kWarpsN * 32;
constexpr int kStepsM = WM / 16, kStepsN = WN / 8, kStepsK = BK / 16;  // of an mma, 16 x 8 x 16
static_assert(BM % WM == 0 && BN % WN == 0 && WM % 16 == 0 && WN % 32 == 0, "warps tile the block, mma the warp");
static_assert(BK % 32 == 0, "operands alternate between two sets of registers");
static_assert(NUM_STAGES >= 2, "one stage is read while another is written");

/// A tile in shared memory, kRows x kWidth elements in chunks of 16 bytes. ldmatrix reads the same chunk of eight
/// consecutive rows at once: those must lie in different banks, so every row (or the rows that share 128 bytes)
/// permutes its chunks in its own way.
template <int kRows_, int kWidth>
struct Tile {
  static constexpr int kRows = kRows_, kChunks = kWidth / 8, kBytes = kRows * kWidth * 2;
  static constexpr int kPermuted = kChunks < 8 ? kChunks : 8, kRowsPerLine = 8 / kPermuted;
  static_assert(kChunks % kPermuted == 0 && kThreads % kChunks == 0, "widths are powers of two");

  __device__ static unsigned at(int row, int chunk) {
    return (row * kChunks + (chunk ^ (row / kRowsPerLine % kPermuted))) * 16;
  }
};

using TileA = Tile<BM, BK>;
#if TRANSPOSE_B
using TileB = Tile<BN, BK>;
#else
using TileB = Tile<BK, BN>;
#endif
constexpr int kStageBytes = TileA::kBytes + TileB::kBytes;

/// A matrix in global memory as its tiles are read: `rows` of `cols` elements, `ld` apart.
struct Source {
  const Element* data;
  int rows, cols, ld;
};

__device__ __forceinline__ void copy_async(unsigned to, const Element* from, bool valid) {
  // L2::128B: the neighbours of this chunk are read next. Fewer bytes than 16 are filled up with zeros.
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0));
}

/// Starts the copy of the tile whose corner is (row, col); zeros stand for what is beyond the matrix.
template <class T>
__device__ __forceinline__ void copy_tile(const Source& source, int row, int col, unsigned shared) {
  constexpr int kRowsPerRound = kThreads / T::kChunks;
  const int first = threadIdx.x / T::kChunks, chunk = threadIdx.x % T::kChunks;
  const Element* const from = source.data + static_cast<long long>(row + first) * source.ld + col + chunk * 8;
#pragma unroll
  for (int i = 0; i < T::kRows; i += kRowsPerRound) {
    if (T::kRows % kRowsPerRound != 0 && first + i >= T::kRows) continue;
    const bool valid = EXACT || (row + first + i < source.rows && col + chunk * 8 < source.cols);
    copy_async(shared + T::at(first + i, chunk), valid ? from + static_cast<long long>(i) * source.ld : source.data,
               valid);
  }
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;"); }

/// Waits until all but the latest kPending groups of copies of all threads have arrived.
template <int kPending>
__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
  __syncthreads();
}

/// Operands of one step of k: the registers of one mma are a row.
struct Operands {
  unsigned a[kStepsM][4], b[kStepsN / 2][4];
};

__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

[[maybe_unused]] __device__ __forceinline__ void load_transposed(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

/// Each lane names a row of eight elements; lanes 8i to 8i + 7 those of the i-th 8 x 8 matrix, and of register i.
__device__ __forceinline__ void load_operands(unsigned stage, int step, int warp_m, int warp_n, Operands& to) {
  const int lane = threadIdx.x % 32, lower = lane % 8, odd = lane / 8 % 2, upper = lane / 16;
#pragma unroll
  for (int i = 0; i < kStepsM; ++i)
    load_matrices(to.a[i], stage + TileA::at(warp_m * WM + i * 16 + odd * 8 + lower, step * 2 + upper));
  const unsigned b = stage + TileA::kBytes;
#pragma unroll
  for (int j = 0; j < kStepsN / 2; ++j) {
    const int col = warp_n * WN + j * 16 + upper * 8;
#if TRANSPOSE_B
    load_matrices(to.b[j], b + TileB::at(col + lower, step * 2 + odd));
#else
    load_transposed(to.b[j], b + TileB::at(step * 16 + odd * 8 + lower, col / 8));
#endif
  }
}

__device__ __forceinline__ void multiply(const Operands& x, Sums<kStepsN> (&sums)[kStepsM]) {
#pragma unroll
  for (int i = 0; i < kStepsM; ++i)
#pragma unroll
    for (int n = 0; n < kStepsN; ++n) {
      const int j = i % 2 == 0 ? n : kStepsN - 1 - n;  // back and forth: the last operand is used again at once
      float(&d)[4] = sums[i][j];
      const unsigned* const b = x.b[j / 2] + j % 2 * 2;
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." OPERAND "." OPERAND
                   ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(x.a[i][0]), "r"(x.a[i][1]), "r"(x.a[i][2]), "r"(x.a[i][3]), "r"(b[0]), "r"(b[1]));
    }
}

}  // namespace

/// With splits > 1 the blocks of grid row i add up the i-th part of k alone, and leave it in `partial`: splits matrices
/// of m x n.
extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const Element* __restrict__ a, const Element* __restrict__ b, Result* __restrict__ c,
         float* __restrict__ partial, int m, int n, int k, int lda, int ldb, int ldc, int group, int splits) {
  extern __shared__ __align__(128) unsigned char memory[];
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const int2 tile = tile_of(blockIdx.x, (m + BM - 1) / BM, (n + BN - 1) / BN, group);
  const int row = tile.x * BM, col = tile.y * BN;
  const int warp = threadIdx.x / 32, warp_m = warp / kWarpsN, warp_n = warp % kWarpsN;
  const int all = (k + BK - 1) / BK, per_split = (all + splits - 1) / splits;
  const int first = blockIdx.y * per_split, slices = max(0, min(all - first, per_split));

  const Source source_a = {a, m, k, lda};
  const Source source_b = TRANSPOSE_B ? Source{b, n, k, ldb} : Source{b, k, n, ldb};
  const auto copy_slice = [&](int slice) {
    if (slice < slices) {
      const unsigned stage = shared + slice % NUM_STAGES * kStageBytes;
      const int at = (first + slice) * BK;
      copy_tile<TileA>(source_a, row, at, stage);
      copy_tile<TileB>(source_b, TRANSPOSE_B ? col : at, TRANSPOSE_B ? at : col, stage + TileA::kBytes);
    }
    commit_copies();  // an empty group at the end, so that the number of groups stays the number of slices
  };

  for (int slice = 0; slice < NUM_STAGES - 1; ++slice) copy_slice(slice);
  await_copies<NUM_STAGES - 2>();
  Sums<kStepsN> sums[kStepsM] = {};
  Operands operands[2];
  load_operands(shared, 0, warp_m, warp_n, operands[0]);
  for (int slice = 0; slice < slices; ++slice) {
#pragma unroll
    for (int step = 0; step < kStepsK; ++step) {
      const bool last = step + 1 == kStepsK;
      if (last) await_copies<NUM_STAGES - 2>();
      const unsigned stage = shared + (slice + last) % NUM_STAGES * kStageBytes;
      load_operands(stage, last ? 0 : step + 1, warp_m, warp_n, operands[(step + 1) % 2]);
      if (step == 0) copy_slice(slice + NUM_STAGES - 1);  // into the stage that everybody has left
      multiply(operands[step % 2], sums);
    }
  }

  float* const part = partial + static_cast<long long>(blockIdx.y) * m * n;
#pragma unroll
  for (int i = 0; i < kStepsM; ++i) {
    const int top = row + warp_m * WM + i * 16, left = col + warp_n * WN;
    if (splits == 1)
      store<EXACT>(Target<Result>{c, top, left, m, n, ldc}, sums[i]);
    else
      store<EXACT>(Target<float>{part, top, left, m, n, n}, sums[i]);
  }
}

/// Adds up the parts of a split product: four neighbours per thread. n is a multiple of 4.
extern "C" __global__ void reduce(const float* __restrict__ partial, Result* __restrict__ c, int m, int n, int ldc,
                                  int splits) {
  const long long at = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  const long long count = static_cast<long long>(m) * n;
  if (at >= count) return;
  float4 sum = *reinterpret_cast<const float4*>(partial + at);
  for (int i = 1; i < splits; ++i) {
    const float4 more = *reinterpret_cast<const float4*>(partial + i * count + at);
    sum = {sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w};
  }
  Result* const to = c + at / n * ldc + at % n;
#if type_c_f32
  *reinterpret_cast<float4*>(to) = sum;
#else
  *reinterpret_cast<uint2*>(to) = {pack(sum.x, sum.y), pack(sum.z, sum.w)};
#endif
}

/// B, K x N and tight, as N x K: for a product that reads both operands along k. Blocks of 32 x 8 threads, one per
/// 32 x 32 elements.
extern "C" __global__ void transpose(const Element* __restrict__ from, Element* __restrict__ to, int k, int n) {
  __shared__ Element tile[32][33];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += 8)
    if (y + i < k && x + threadIdx.x < n)
      tile[i][threadIdx.x] = from[static_cast<long long>(y + i) * n + x + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8)
    if (x + i < n && y + threadIdx.x < k)
      to[static_cast<long long>(x + i) * k + y + threadIdx.x] = tile[threadIdx.x][i];
}
