// C = A * B on Hopper's tensor cores, for sm_90a: bf16 or f16 in, sums in f32, C in bf16, f16 or f32. A is row-major, B
// is N x K: both are read along k.
//
// The idea: nothing but the multiplication costs the multiplying threads an instruction. One warpgroup, the producer,
// has a single thread that asks the tensor memory accelerator (TMA) for slices of A and B; they arrive in a ring of
// STAGES stages in shared memory, swizzled as wgmma reads them. The other warpgroups, the consumers, take a part of the
// tile's rows each, and their wgmma reads both operands from shared memory. Two barriers per stage pass it back and
// forth: `full` when its bytes have arrived, `empty` when all have read it. Blocks stay (one per multiprocessor) and go
// from tile to tile, so that the producer fills the ring while the consumers store the tile before.
//
//   BM, BN, BK   tile of a block, and the width of a slice: multiples of 64*CONSUMERS, 32 and 64
//   STAGES       of the ring
//   CONSUMERS    warpgroups that multiply, 1 to 3
//   CLUSTER      blocks, one tile of rows below the other, that share the columns of B: each loads a part for all
//   type_a, type_c   bf16 or f16; bf16, f16 or f32
//
// Shared memory, dynamic: STAGES*((BM + BN)*BK*2 + 16) bytes. Rows of A and B must start at multiples of 16 bytes.
// Boxes of the tensor maps: 64 x BM of A, 64 x BN/CLUSTER of B, with a swizzle of 128 bytes.

#if !defined(BM) || !defined(BN) || !defined(BK) || !defined(STAGES) || !defined(CONSUMERS) || !defined(CLUSTER)
#error "needs -D of BM BN BK STAGES CONSUMERS CLUSTER, for example 128 256 64 4 2 1; see the head of the file"
#endif
#include "hopper/pipe.cuh"
#include "hopper/wgmma.cuh"

namespace {

constexpr int kThreads = (CONSUMERS + 1) * 128;
constexpr int kWidth = 64;  // elements of k in the 128 bytes that a swizzled row has
constexpr int kRowsPerConsumer = BM / CONSUMERS, kBlocks = kRowsPerConsumer / 64;  // of an wgmma, 64 rows
constexpr int kBytesA = BM * kWidth * 2, kBytesB = BN * kWidth * 2, kPartsK = BK / kWidth;
constexpr int kStageBytes = (kBytesA + kBytesB) * kPartsK;

static_assert(CONSUMERS >= 1 && CONSUMERS <= 3, "one to three warpgroups share the registers");
static_assert(BM % (64 * CONSUMERS) == 0 && BN % 32 == 0 && BN <= 256, "shapes that wgmma has");
static_assert(BK % kWidth == 0 && BN % (8 * CLUSTER) == 0 && STAGES >= 2, "whole swizzled rows, eight at a time");

using Slices = Ring<STAGES, kStageBytes>;

/// All threads of the block, or of the cluster, meet.
__device__ __forceinline__ void sync_blocks() {
  if (CLUSTER == 1) return __syncthreads();
  arrive_in_cluster();
  await_cluster();
}

/// Fills one stage. The barrier counts the bytes of the other blocks' parts of B, too.
__device__ __forceinline__ void load_slice(const TensorMap& a, const TensorMap& b, int row, int col, int k,
                                           unsigned rank, const Slices& ring) {
  constexpr int kShare = BN / CLUSTER;
  expect(ring.full(), kStageBytes);
  const unsigned to_a = ring.data(), to_b = to_a + kPartsK * kBytesA + rank * kShare * kWidth * 2;
#pragma unroll
  for (int part = 0; part < kPartsK; ++part) {
    load(a, k + part * kWidth, row, to_a + part * kBytesA, ring.full());
    if constexpr (CLUSTER == 1)
      load(b, k + part * kWidth, col, to_b + part * kBytesB, ring.full());
    else
      load_for((1 << CLUSTER) - 1, b, k + part * kWidth, col + rank * kShare, to_b + part * kBytesB, ring.full());
  }
}

/// Starts the products of one stage; `first_row` is the consumer's first row of the tile.
__device__ __forceinline__ void multiply_slice(unsigned stage, int first_row, bool add, Sums<BN / 8> (&sums)[kBlocks]) {
  const unsigned long long a = describe(stage + first_row * kWidth * 2), b = describe(stage + kPartsK * kBytesA);
  begin_products();
#pragma unroll
  for (int step = 0; step < BK / 16; ++step) {
    const int part = step / 4, within = step % 4 * 32;  // bytes of 16 elements: they go along inside a swizzled row
#pragma unroll
    for (int i = 0; i < kBlocks; ++i)
      multiply_async(a + ((part * kBytesA + within + i * 64 * kWidth * 2) >> 4), b + ((part * kBytesB + within) >> 4),
                     add || step > 0, sums[i]);
  }
  commit_products();
}

/// Hands a stage back to the producers that fill it: those of the whole cluster. Every warp speaks for itself.
__device__ __forceinline__ void release(unsigned empty) { arrive_in_all(empty, CLUSTER); }

/// The tiles of a cluster, one after the other: CLUSTER rows of tiles count as one.
struct Tiles {
  int m, n, group;

  __device__ int rows() const { return (m + BM * CLUSTER - 1) / (BM * CLUSTER); }
  __device__ int cols() const { return (n + BN - 1) / BN; }
  __device__ int count() const { return rows() * cols(); }
  /// Row and column of C where a block's tile begins.
  __device__ int2 corner(int index, unsigned rank) const {
    const int2 tile = tile_of(index, rows(), cols(), group);
    return {(tile.x * CLUSTER + static_cast<int>(rank)) * BM, tile.y * BN};
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, Result* __restrict__ c, int m, int n,
         int k, int ldc, int group) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  Slices ring{shared, shared + STAGES * kStageBytes};
  if (threadIdx.x == 0) ring.make_barriers(CONSUMERS * 4 * CLUSTER);
  sync_blocks();

  const unsigned rank = blockIdx.x % CLUSTER;
  // The same in all lanes, and known to be: addresses of wgmma are of a warp, not of a thread.
  const int warpgroup = __shfl_sync(~0U, threadIdx.x / 128, 0), slices = (k + BK - 1) / BK;
  const Tiles tiles = {m, n, group};
  const int first = blockIdx.x / CLUSTER, step = gridDim.x / CLUSTER;
  if (warpgroup == 0) {
    if constexpr (CONSUMERS > 1) leave_registers<CONSUMERS == 2 ? 24 : 32>();
    if (threadIdx.x / 32 == 0 && elected()) {
      for (int tile = first; tile < tiles.count(); tile += step) {
        const int2 corner = tiles.corner(tile, rank);
        for (int slice = 0; slice < slices; ++slice, ring.next()) {
          wait(ring.empty(), ring.parity ^ 1);  // passes at once in the first round
          load_slice(a, b, corner.x, corner.y, slice * BK, rank, ring);
        }
      }
      if constexpr (CLUSTER > 1) ring.drain();
    }
  } else {
    if constexpr (CONSUMERS > 1) take_registers<CONSUMERS == 2 ? 240 : 160>();
    const int first_row = (warpgroup - 1) * kRowsPerConsumer;
    for (int tile = first; tile < tiles.count(); tile += step) {
      Sums<BN / 8> sums[kBlocks];
      unsigned before = 0;
      for (int slice = 0; slice < slices; ++slice, ring.next()) {
        wait(ring.full(), ring.parity);
        multiply_slice(ring.data(), first_row, slice > 0, sums);
        await_products<1>();
        if (slice > 0) release(before);
        before = ring.empty();
      }
      await_products<0>();
      release(before);
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) are_written_here(sums[i]);
      const int2 corner = tiles.corner(tile, rank);
      const int row = corner.x + first_row + threadIdx.x / 32 % 4 * 16;
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) store<false>(Target<Result>{c, row + i * 64, corner.y, m, n, ldc}, sums[i]);
    }
  }
}
