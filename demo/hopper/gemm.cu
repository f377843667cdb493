// C = A * B on Hopper's tensor cores, for sm_90a: bf16 or f16 in, sums in f32, C in bf16, f16 or f32. A is
// row-major, B is N x K: both are read along k.
//
// This file has the roles. One warpgroup, the producer, has a single thread that asks the TMA for slices of A and B,
// which arrive in a ring of stages (pipe.cuh). The other warpgroups, the consumers, multiply them (wgmma.cuh), and
// store C (epilogue.cuh). Which tiles and slices a block has is said by schedule.cuh. What a shape needs beyond that
// are choices:
//
//   BM, BN, BK   tile of a block and width of a slice: multiples of 64 (for each consumer), of 8, and of 128 bytes
//   STAGES       of the ring
//   CONSUMERS    warpgroups that multiply, 1 to 3
//   SCHEDULE     coop: the consumers share a tile's rows. pingpong: each of two has a tile of its own, so that one
//                multiplies while the other stores
//   CLUSTER_M, CLUSTER_N   tiles whose blocks load together: those below each other share B, those side by side A
//   SWAP         1: computes the transpose, so that the columns of B, of which there are many, are the 64 rows of an
//                wgmma, and the rows of A, of which there are few, its columns
//   EPILOGUE     direct: from registers. tma: through shared memory, while the consumers go on to the next tile
//   REDUCE       none; or `parts` blocks share each tile, and add up through each other's shared memory (cluster: the
//                blocks of one cluster) or through global memory (workspace: all blocks must be on the device at once)
//   RESIDENT     blocks on a multiprocessor, 1 or 2
//   type_a, type_c   bf16 or f16; bf16, f16 or f32
//
// Dynamic shared memory: STAGES*((BM + BN)*BK*2 + 16), and CONSUMERS*16384 bytes with EPILOGUE tma. Workspace with
// REDUCE workspace: 4*BM*BN bytes for each part of each tile. Rows of A and B, and of C with EPILOGUE tma, must start
// at multiples of 16 bytes.

#if !defined(BM) || !defined(BN) || !defined(BK) || !defined(STAGES) || !defined(CONSUMERS) || !defined(CLUSTER_M) || \
    !defined(CLUSTER_N) || !defined(SWAP) || !defined(RESIDENT)
#error "needs -D of BM BN BK STAGES CONSUMERS CLUSTER_M CLUSTER_N SWAP RESIDENT; see the head of the file"
#endif

#include "pipe.cuh"
#include "schedule.cuh"
#include "wgmma.cuh"
// It uses the three above.
#include "epilogue.cuh"

namespace {

#if SCHEDULE_pingpong
constexpr bool kPingPong = true;
#else
constexpr bool kPingPong = false;
#endif
#if REDUCE_cluster
constexpr Sharing kSharing = Sharing::cluster;
#elif REDUCE_workspace
constexpr Sharing kSharing = Sharing::grid;
#else
constexpr Sharing kSharing = Sharing::none;
#endif
constexpr int kThreads = (CONSUMERS + 1) * 128;
constexpr int kWidth = 64, kPartsK = BK / kWidth;  // elements of k in a swizzled row; rows of a slice
constexpr int kBytesA = BM * 128, kBytesB = BN * 128, kStageBytes = (kBytesA + kBytesB) * kPartsK;
constexpr int kConsumerRows = kPingPong ? BM : BM / CONSUMERS, kBlocks = kConsumerRows / 64, kFragments = BN / 8;
constexpr int kReaders = (kPingPong ? 1 : CONSUMERS) * 4;  // warps that read a stage
constexpr int kCluster = CLUSTER_M * CLUSTER_N;            // blocks that load together
#if EPILOGUE_tma
constexpr int kStoreBytes = 2 * 64 * 128;  // two buffers for each consumer, behind the ring
#else
constexpr int kStoreBytes = 0;
#endif

constexpr int kRowsC = SWAP ? BN : BM, kColsC = SWAP ? BM : BN;  // a tile as C has it
constexpr int kAdders = CONSUMERS * 128;
constexpr int kStoring = 1, kTurn = 4, kReady = 6;  // named barriers; the first two are of each consumer

static_assert(CLUSTER_M <= 4 && CLUSTER_N <= 2, "the masks of load_slice");
static_assert(CONSUMERS >= 1 && CONSUMERS <= 3, "one to three warpgroups share the registers");
static_assert(kConsumerRows % 64 == 0 && BN % 8 == 0 && BN <= 256, "shapes that wgmma has");
static_assert(BK % kWidth == 0 && STAGES >= 2, "whole swizzled rows");
static_assert(BM % (8 * CLUSTER_N) == 0 && BN % (8 * CLUSTER_M) == 0, "eight swizzled rows at a time");
static_assert(!kPingPong || CONSUMERS == 2, "two take turns");

using Tiles = Schedule<BM, BN, CLUSTER_M, CLUSTER_N, kSharing>;
using Stages = Ring<STAGES, kStageBytes>;

/// Fills one stage, together with the other blocks of the cluster: each loads a part for all that need it. `full`
/// counts the bytes that the others load, too.
__device__ __forceinline__ void load_slice(const TensorMap& a, const TensorMap& b, const Work& work, int slice,
                                           unsigned rank, const Stages& ring) {
  constexpr int kRowsA = BM / CLUSTER_N, kRowsB = BN / CLUSTER_M;
  const unsigned down = rank % CLUSTER_M, across = rank / CLUSTER_M;
  const unsigned to_a = ring.data() + across * kRowsA * 128;
  const unsigned to_b = ring.data() + kPartsK * kBytesA + down * kRowsB * 128;
  expect(ring.full(), kStageBytes);
#pragma unroll
  for (int part = 0; part < kPartsK; ++part) {
    const int k = slice * BK + part * kWidth;
    if constexpr (CLUSTER_N == 1) {
      load(a, k, work.row, to_a + part * kBytesA, ring.full());
    } else {
      constexpr unsigned kSameRow = 1 | 1 << CLUSTER_M;  // the two blocks side by side
      load_for(kSameRow << down, a, k, work.row + across * kRowsA, to_a + part * kBytesA, ring.full());
    }
    if constexpr (CLUSTER_M == 1) {
      load(b, k, work.col, to_b + part * kBytesB, ring.full());
    } else {
      constexpr unsigned kSameCol = (1 << CLUSTER_M) - 1;
      load_for(kSameCol << across * CLUSTER_M, b, k, work.col + down * kRowsB, to_b + part * kBytesB, ring.full());
    }
  }
}

/// Starts the products of one stage for the consumer's rows.
__device__ __forceinline__ void multiply_slice(unsigned stage, int first_row, bool add,
                                               Sums<kFragments> (&sums)[kBlocks]) {
  const unsigned long long a = describe(stage + first_row * 128), b = describe(stage + kPartsK * kBytesA);
  begin_products();
#pragma unroll
  for (int step = 0; step < kPartsK * 4; ++step) {
    const int part = step / 4, within = step % 4 * 32;  // bytes of k go along inside a swizzled row
#pragma unroll
    for (int i = 0; i < kBlocks; ++i)
      multiply_async(a + ((part * kBytesA + within + i * 64 * 128) >> 4), b + ((part * kBytesB + within) >> 4),
                     add || step > 0, sums[i]);
  }
  commit_products();
}

/// Hands a stage back to the producers that fill it: those of the whole cluster. Every warp speaks for itself.
__device__ __forceinline__ void release(unsigned empty) {
  if constexpr (kCluster == 1) {
    if (threadIdx.x % 32 == 0) arrive(empty);
  } else {
    if (threadIdx.x % 32 < kCluster) arrive_in(threadIdx.x % 32, empty);
  }
}

/// Sums up the slices of a piece of work.
__device__ __forceinline__ void multiply(int slices, int consumer, int first_row, Stages& ring,
                                         Sums<kFragments> (&sums)[kBlocks]) {
  unsigned before = 0;
  for (int slice = 0; slice < slices; ++slice, ring.next()) {
    wait(ring.full(), ring.parity);
    multiply_slice(ring.data(), first_row, slice > 0, sums);
    await_products<1>();
    if (slice > 0) release(before);
    before = ring.empty();
  }
  if constexpr (kPingPong) pass(kTurn + 1 - consumer, 256);
  await_products<0>();
  release(before);
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) are_written_here(sums[i]);
}

/// The producer needs few registers, and what it leaves is divided among the consumers.
__device__ __forceinline__ void share_registers(bool produces) {
  constexpr int kAll = 65536 / (kThreads * RESIDENT) / 8 * 8 * (CONSUMERS + 1);
  constexpr int kProducer = 40, kConsumer = (kAll - kProducer) / CONSUMERS / 8 * 8;
  if constexpr (CONSUMERS == 1 && RESIDENT == 1) return;  // there are enough for all
  if (produces)
    leave_registers<kProducer>();
  else
    take_registers<(kConsumer < 240 ? kConsumer : 240)>();
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, RESIDENT)
    gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
#if EPILOGUE_tma
         const __grid_constant__ TensorMap c_map,
#endif
         Result* __restrict__ c, float* __restrict__ workspace, int m, int n, int k, int ldc, int group, int parts) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const unsigned buffers = shared + STAGES * kStageBytes;
  Stages ring{shared, buffers + CONSUMERS * kStoreBytes};
  // The same in all lanes, and known to be: addresses of wgmma are of a warp, not of a thread.
  const int warpgroup = __shfl_sync(~0U, threadIdx.x / 128, 0), warp = __shfl_sync(~0U, threadIdx.x / 32, 0);
  if (threadIdx.x == 0) {
    prefetch(a);
    prefetch(b);
    ring.make_barriers(kReaders * kCluster);
  }
  // The barriers are there before anybody waits at one. The producer does not wait for the others of its block.
  if constexpr (kCluster > 1)
    sync_cluster();
  else if (warpgroup > 0)
    meet(kReady, kAdders + 32);
  else if (warp == 0)
    pass(kReady, kAdders + 32);

  const Tiles tiles(SWAP ? n : m, SWAP ? m : n, (k + BK - 1) / BK, group, parts, blockIdx.x, gridDim.x);
  share_registers(warpgroup == 0);
  if (warpgroup == 0) {
    if (threadIdx.x == 0) {
      const unsigned rank = kCluster > 1 ? rank_in_cluster() : 0;
#pragma unroll 1
      for (unsigned index = tiles.cluster; index < tiles.count(); index += tiles.clusters) {
        const Work work = tiles.at(index);
#pragma unroll 1
        for (int i = 0; i < work.slices; ++i, ring.next()) {
          wait(ring.empty(), ring.parity ^ 1);  // passes at once in the first round
          load_slice(a, b, work, work.part + i * tiles.parts, rank, ring);
        }
      }
    }
#if REDUCE_cluster
    __syncwarp();
    sync_cluster();
    sync_cluster();
#endif
  } else {
    const int consumer = warpgroup - 1, first_row = kPingPong ? 0 : consumer * kConsumerRows;
    const int warp_row = first_row + threadIdx.x / 32 % 4 * 16;
    const int adder = static_cast<int>(threadIdx.x) - 128;
    const Matrix to = {c, m, n, ldc};
    int turn = 0, stored = 0;
#pragma unroll 1
    for (unsigned index = tiles.cluster; index < tiles.count(); index += tiles.clusters, ++turn) {
      const Work work = tiles.at(index);
      if constexpr (kPingPong) {
        if (turn % 2 != consumer) {
          ring.skip(work.slices);
          continue;
        }
        if (turn > 0) meet(kTurn + consumer, 256);  // the other one has all its slices
      }
      Sums<kFragments> sums[kBlocks];
      multiply(work.slices, consumer, first_row, ring, sums);
      const int row_c = SWAP ? work.col : work.row, col_c = SWAP ? work.row : work.col;
#if REDUCE_cluster
      meet(kStoring, kAdders);  // all have read the ring, whose memory is used now
      const SharedParts<kRowsC, kColsC> down{shared, work.part};
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) write_down(sums[i], warp_row + i * 64, 0, down);
      sync_cluster();
      add_up<kRowsC, kColsC>(down, work.part, parts, adder, kAdders, to, row_c, col_c);
      sync_cluster();  // nobody leaves while another may still read its part
#elif REDUCE_workspace
      const GlobalParts<kRowsC, kColsC> down{workspace + static_cast<long long>(work.tile) * parts * kRowsC * kColsC,
                                             work.part};
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) write_down(sums[i], warp_row + i * 64, 0, down);
      meet(kStoring, kAdders);
      if (adder == 0) await_parts(work.tile, parts);
      meet(kStoring, kAdders);
      add_up<kRowsC, kColsC>(down, work.part, parts, adder, kAdders, to, row_c, col_c);
      meet(kStoring, kAdders);
      if (adder == 0) leave_parts(work.tile, parts);
#else
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) {
#if EPILOGUE_tma
        store_by_tma<128>(c_map, work.row + first_row + i * 64, work.col, sums[i], buffers + consumer * kStoreBytes,
                          stored, kStoring + consumer);
#else
        store_directly(to, work.row + warp_row + i * 64, work.col, sums[i]);
#endif
      }
#endif
    }
#if EPILOGUE_tma
    if (threadIdx.x % 128 == 0) await_stores<0>();  // before its shared memory is given away
#endif
  }
#if !REDUCE_cluster
  if constexpr (kCluster > 1) {
    __syncwarp();
    sync_cluster();  // nobody leaves while another may still arrive at its barriers
  }
#endif
}
