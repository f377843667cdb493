// C = A * B on Hopper's tensor cores, for sm_90a: bf16, f16 or e4m3 in, sums in f32, C in bf16, f16 or f32. A is
// row-major, B is N x K: both are read along k.
//
// This file has the roles. One warpgroup, the producer, has a single thread that asks the TMA for slices of A and B,
// which arrive in a ring of stages (pipe.cuh). The other warpgroups, the consumers, multiply them (sums.cuh), and
// store C (epilogue.cuh). Which tiles and slices a block has is said by schedule.cuh. What a shape needs beyond that
// are choices:
//
//   BM, BN, BK   tile of a block and width of a slice: multiples of 64 (for each consumer), of 8, and of 128 bytes
//   STAGES       of the ring
//   CONSUMERS    warpgroups that multiply, 1 to 3
//   SCHEDULE     coop: the consumers share a tile's rows. pingpong: each of two has a tile of its own, so that one
//                multiplies while the other stores
//   SWAP         1: computes the transpose, so that the columns of B, of which there are many, are the 64 rows of an
//                wgmma, and the rows of A, of which there are few, its columns
//   EPILOGUE     direct: from registers. tma: through shared memory, while the consumers go on to the next tile; for C
//                of 16-bit elements, and BN a multiple of 16
//   REDUCE       none; or workspace: `parts` blocks share each tile, and add up through global memory, each a part of
//                it. All blocks must be on the device at once, and have one tile each
//   PROMOTE      1: the sums of each slice are added to others in f32. Of a sum of e4m3 products, tensor cores keep
//                about 14 bits only, which is too few for a long k
//   type_a, type_c   bf16, f16 or e4m3; bf16, f16 or f32
//   scale_a_1x128, scale_b_128x128   both or none: e4m3 with scales of blocks (scales.cuh); PROMOTE is 1, and BK 128
//   scale_a_tensor or scale_a_row, scale_b_tensor or scale_b_col   both or none: scales of all of k (finish.cuh)
//   groups_contiguous, groups_masked   groups of rows (groups.cuh), without REDUCE and epilogue. Clusters share A
//                alone, whose boxes have 64 rows if two consumers share a tile without SWAP. With BM 256, BN up to 128,
//                slices of 128 bytes and EPILOGUE direct, tiles of few rows have twice as many columns
//   epilogue_relu and its like   see finish.h
//
// and these are arguments:
//
//   group        rows of tiles that blocks go down before they go on to the next column
//   parts        of a tile's k, for REDUCE workspace
//   stagger      cluster i begins with slice i*stagger, modulo their number, and goes on with the first one after the
//                last, and for every second tile backwards; without REDUCE
//   cluster_m, cluster_n   1 or 2; tiles whose blocks load together: those below each other share B, those side by side
//                A. BN is a multiple of 8*cluster_m
//
// Dynamic shared memory: for each stage the slices of A and B and 16 bytes, and CONSUMERS*16384 bytes with EPILOGUE
// tma, or twice as many with scales of blocks and BM*BN > CONSUMERS*96*128; of these, for each stage four bytes for
// each row of A in a tile, and 80; where tiles of few rows are wider, 128 bytes. With REDUCE workspace the ring has at
// least 4*BM*BN + 512*parts bytes, and the workspace 4*BM*BN for each part of each tile. Rows of A and B must start at
// multiples of 16 bytes. If those of C do not, EPILOGUE tma stores without the TMA, and C's tensor map may be any.

#if !defined(BM) || !defined(BN) || !defined(BK) || !defined(STAGES) || !defined(CONSUMERS) || !defined(SWAP) || \
    !defined(PROMOTE)
#error "needs -D of BM BN BK STAGES CONSUMERS SWAP PROMOTE; see the head of the file"
#endif

#include "sums.cuh"

namespace {

#define LOADS(warp) ((warp) == 1 || (HAS_BLOCK_SCALES && (warp) == 2))  // the second one loads scales
#define PLANS(warp) (kWide && (warp) == 3)                              // finds the tiles

/// What a block loads of each slice: a part of the tile's rows and columns, for all blocks of the cluster that need it.
struct Loads {
  unsigned rows_of_a, rows_of_b;        // in a box; B's rows are the tile's columns
  unsigned first_of_a, first_of_b;      // within the tile
  unsigned blocks_for_a, blocks_for_b;  // a bit for each block of the cluster
#if IS_SWIGLU
  int n = 0;  // columns of C
#endif

  __device__ Loads(const Cluster& cluster, unsigned rank)
      : rows_of_a(Cluster::over(BM, cluster.cols)),
        rows_of_b(Cluster::over(BN, cluster.rows)),
        first_of_a(cluster.col_of(rank) * rows_of_a),
        first_of_b(cluster.row_of(rank) * rows_of_b),
        blocks_for_a((cluster.cols > 1 ? 1 | 1 << cluster.rows : 1) << cluster.row_of(rank)),
        blocks_for_b(((1 << cluster.rows) - 1) << cluster.col_of(rank) * cluster.rows) {}
};

#if HAS_GROUPS && !SWAP
/// Asks the L2 cache for B's part of a slice of a tile that has few rows: nobody else reads that, and what the ring
/// holds is not enough for all the time that memory takes.
__device__ __forceinline__ void prefetch_slice(const TensorMap& b, const GroupedWork& work, int slice) {
  if (!kWide || work.end - work.row > 64 || slice < 0 || slice >= work.slices) return;
  prefetch(b, slice * BK, work.col, work.group);
  prefetch(b, slice * BK, work.col + BN, work.group);
}
#endif

/// A block's tiles, if some of them are wide, on their way from the warp that finds them to those that load and
/// multiply them: to find one takes as long as a slice.
using Plans = Ring<4, 16>;

#if HAS_GROUPS
/// Tells them the next tile, or that there is none.
__device__ __forceinline__ void write_plan(Plans& plans, const GroupedWork& work, bool more) {
  wait(plans.empty(), plans.parity ^ 1);
  write_two(plans.data(), {static_cast<unsigned>(work.row), static_cast<unsigned>(work.col)});
  write_two(plans.data() + 8, {static_cast<unsigned>(work.group), more ? static_cast<unsigned>(work.end) : 0});
  expect(plans.full(), 0);
  plans.next();
}

/// Waits for the next tile. Whoever calls this arrives at `empty` afterwards.
__device__ __forceinline__ void read_plan(const Plans& plans, GroupedWork& work) {
  wait(plans.full(), plans.parity);
  const uint2 place = read_two(plans.data()), of = read_two(plans.data() + 8);
  work.row = static_cast<int>(place.x);
  work.col = static_cast<int>(place.y);
  work.group = static_cast<int>(of.x);
  work.end = static_cast<int>(of.y);
}

/// Whether there is another tile: for the one thread of a warp that loads.
__device__ __forceinline__ bool next_to_load(Plans& plans, GroupedWork& work) {
  read_plan(plans, work);
  expect(plans.empty(), 0);
  plans.next();
  return work.end > 0;
}

/// The same for a whole warp that multiplies.
__device__ __forceinline__ bool next_to_multiply(Plans& plans, GroupedWork& work) {
  read_plan(plans, work);
  // The same in all lanes, and known to be.
  work.row = __shfl_sync(~0U, work.row, 0);
  work.col = __shfl_sync(~0U, work.col, 0);
  work.group = __shfl_sync(~0U, work.group, 0);
  work.end = __shfl_sync(~0U, work.end, 0);
  arrive_in_all(plans.empty(), 1);
  plans.next();
  return work.end > 0;
}
#else
__device__ __forceinline__ bool next_to_load(Plans&, Work&) { return false; }
__device__ __forceinline__ bool next_to_multiply(Plans&, Work&) { return false; }
#endif

/// Fills one stage with the rows and the columns (a and b, or with SWAP B and A) of the tile, together with the other
/// blocks of the cluster. `full` counts the bytes that the others load, too.
__device__ __forceinline__ void load_slice(const TensorMap& a, const TensorMap& b, const Tiles::Piece& work, int slice,
                                           const Loads& loads, const Stages& ring) {
  const unsigned to_a = ring.data() + loads.first_of_a * 128;
  const unsigned to_b = ring.data() + kPartsK * kBytesA + loads.first_of_b * 128;
#if HAS_GROUPS
  // Of tiles that may be small, boxes have 64 rows, and those that no row is the group's in are not loaded.
  const int rows = kHalf > 0 ? blocks_of(work) * 64 : BM;
  expect(ring.full(), (rows * 128 + (is_wide(work) ? 2 : 1) * kBytesB) * kPartsK);
#else
  expect(ring.full(), kStageBytes);
#endif
#pragma unroll
  for (int part = 0; part < kPartsK; ++part) {
    const int k = slice * BK + part * kWidth;
#if HAS_GROUPS && SWAP
    load(a, k, work.row, work.group, to_a + part * kBytesA, ring.full());
#elif HAS_GROUPS
    const int box = kHalf > 0 ? 64 : loads.rows_of_a, first = loads.first_of_a;
#pragma unroll 1
    for (int i = 0; i < loads.rows_of_a && first + i < rows; i += box) {
      const unsigned to = to_a + part * kBytesA + i * 128;
      if (loads.rows_of_a == BM)
        load(a, k, work.row + i, to, ring.full());
      else
        load_for(loads.blocks_for_a, a, k, work.row + first + i, to, ring.full());
    }
#else
    if (loads.rows_of_a == BM)
      load(a, k, work.row, to_a + part * kBytesA, ring.full());
    else
      load_for(loads.blocks_for_a, a, k, work.row + loads.first_of_a, to_a + part * kBytesA, ring.full());
#endif
#if HAS_GROUPS && !SWAP
    load(b, k, work.col, work.group, to_b + part * kBytesB, ring.full());
    if (is_wide(work)) load(b, k, work.col + BN, work.group, ring.data() + kBytesA / 2, ring.full());
#elif IS_SWIGLU  // half of the tile's columns are of the product's first half, the others of its second
    const int col = work.col / 2;
    if (loads.rows_of_b == BN) {
      load(b, k, col, to_b + part * kBytesB, ring.full());
      load(b, k, loads.n + col, to_b + part * kBytesB + BN / 2 * 128, ring.full());
    } else {
      load_for(loads.blocks_for_b, b, k, loads.first_of_b > 0 ? loads.n + col : col, to_b + part * kBytesB,
               ring.full());
    }
#else
    if (loads.rows_of_b == BN)
      load(b, k, work.col, to_b + part * kBytesB, ring.full());
    else
      load_for(loads.blocks_for_b, b, k, work.col + loads.first_of_b, to_b + part * kBytesB, ring.full());
#endif
  }
}

/// What the consumers of one of a tile's `parts` do with its sums: they write down what other blocks add up, wait for
/// the other parts, add up this block's share of the tile, and store that. The ring, which all have read, begins at
/// `shared`; it has room for this share of all parts.
__device__ __forceinline__ void add_up_with_others(const Sums<kFragments> (&sums)[kBlocks], const Work& work, int parts,
                                                   float* workspace, unsigned shared, const Stages& ring,
                                                   const Matrix& to, int warp
#if HAS_FINISH
                                                   ,
                                                   const Finish& finish
#endif
) {
  unsigned char* const parts_of_tile =
      reinterpret_cast<unsigned char*>(workspace) + static_cast<long long>(work.tile) * parts * kPartBytes;
  const Share share(kTileFragments, work.part, parts);
#pragma unroll
  for (int i = 0; i < kBlocks; ++i)
    write_down<kWarps>(sums[i], warp + i * kFragments * kWarps, share, parts_of_tile + work.part * kPartBytes);
  meet(kStoring, kAdders);
  if (warp == 0 && elected()) {
    await_parts(work.tile, parts);
#if HAS_BLOCK_SCALES
    expect(ring.full(), 0);  // in place of who loads scales
#endif
    fetch(share, work.part, parts_of_tile, kPartBytes, shared, ring.full());
    leave_parts(work.tile, parts);
  }
  const unsigned kept = shared + work.part * share.count * kFragmentBytes;
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) keep<kWarps>(sums[i], warp + i * kFragments * kWarps, share, kept);
  wait(ring.full(), ring.parity);
#pragma unroll 1
  for (int i = (warp + kTileFragments - share.first) % kWarps; i < share.count; i += kWarps) {  // those it had itself
    float sum[4] = {};
    add_up(share, shared, i, sum);
    const int place = (share.first + i) / kWarps;
    const int row = work.row + warp / 4 * kConsumerRows + warp % 4 * 16 + place / kFragments * 64;
    const int col = work.col + place % kFragments * 8;
#if HAS_FINISH
    finish_fragment(finish, row, col, sum);
#endif
    store_fragment(to, row, col, sum);
  }
}

/// The producer needs few registers, and what it leaves is divided among the consumers.
__device__ __forceinline__ void share_registers(bool produces) {
  constexpr int kAll = 65536 / kThreads / 8 * 8 * (CONSUMERS + 1);
  constexpr int kProducer = 40, kConsumer = (kAll - kProducer) / CONSUMERS / 8 * 8;
  if constexpr (CONSUMERS == 1) return;  // there are enough for all
  if (produces)
    leave_registers<kProducer>();
  else
    take_registers<(kConsumer < 240 ? kConsumer : 240)>();
}

}  // namespace

// __cluster_dims__() without sizes promises that every launch says the size of its clusters, even if that is 1.
// Without it, each barrier of a cluster is preceded by a test whether there are clusters.
extern "C" __global__ void __cluster_dims__() __launch_bounds__(kThreads, 1)
    gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
#if EPILOGUE_tma
         const __grid_constant__ TensorMap c_map,
#endif
         Result* __restrict__ c, float* __restrict__ workspace, int m, int n, int k, int ldc, int group, int parts,
         int stagger, int cluster_m, int cluster_n
#if HAS_BIAS
         ,
         const Result* __restrict__ bias
#endif
#if HAS_RESIDUAL
         ,
         const Result* __restrict__ residual
#endif
#if HAS_SCALES
         ,
         const float* __restrict__ scale_a, const float* __restrict__ scale_b
#endif
#if HAS_GROUPS
         ,
         const int* __restrict__ groups_list, int groups, int max_rows
#endif
    ) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const unsigned buffers = shared + STAGES * kStageBytes;
  const Stages first{shared, buffers + CONSUMERS * kStoreBytes};
  [[maybe_unused]] const unsigned scales = first.barriers + STAGES * 16;
  // The same in all lanes, and known to be: addresses of wgmma are of a warp, not of a thread.
  const int warpgroup = __shfl_sync(~0U, threadIdx.x / 128, 0), warp = __shfl_sync(~0U, threadIdx.x / 32, 0);
  const Cluster cluster = {static_cast<unsigned>(cluster_m), static_cast<unsigned>(cluster_n)};
  if (threadIdx.x == 0) first.make_barriers(kReaders * cluster.blocks(), HAS_BLOCK_SCALES ? 2 : 1);
  if (threadIdx.x == 64) {  // not of the warp that loads
    prefetch(a);
    prefetch(b);
  }
  if (cluster.blocks() > 1) arrive_in_cluster();
  Plans plans{buffers, buffers + 64};
#if HAS_GROUPS
  if (kWide && threadIdx.x == 0) plans.make_barriers(kReaders + (HAS_BLOCK_SCALES ? 2 : 1));
  Tiles tiles(groups_list, groups, max_rows, n, (k + BK - 1) / BK, group, cluster, blockIdx.x, gridDim.x);
  Tiles::Piece work = {};
  if (!kWide || PLANS(warp)) work = tiles.first();
  if (kWide) work.slices = tiles.slices;
#else
  const Tiles tiles(SWAP ? n : m, SWAP ? m : kColumns * n, (k + BK - 1) / BK, group, parts, cluster, blockIdx.x,
                    gridDim.x);
  Tiles::Piece work = tiles.at(0);
#endif
#if IS_PROGRAMMATIC
  begin_next_launch();
  await_launch_before();
#endif
  // The barriers are there before anybody waits at one.
  if (cluster.blocks() > 1)
    await_cluster();
  else if (warp == 0)
    pass(kReady, kAtStart);
  else if (LOADS(warp) || PLANS(warp) || warpgroup > 0)
    meet(kReady, kAtStart);

  if (warpgroup == 0) {
    share_registers(true);
#if HAS_GROUPS
    if (PLANS(warp) && elected()) {
      unsigned turn = 0;
#pragma unroll 1
      for (bool more = tiles.has(0); more; more = tiles.next(turn, work)) write_plan(plans, work, true);
      write_plan(plans, work, false);
    }
#endif
    if (LOADS(warp) && elected()) {  // another warp makes the barriers, while this one finds out what to load
      Stages ring = first;
#if IS_SWIGLU
      Loads loads(cluster, tiles.rank);
      loads.n = n;
#else
      const Loads loads(cluster, tiles.rank);
#endif
      int slice = kSplit ? work.part : tiles.first_slice(stagger), step = tiles.parts;
      unsigned turn = 0;
#pragma unroll 1
      for (bool more = kWide ? next_to_load(plans, work) : tiles.has(0); more;
           more = kWide ? next_to_load(plans, work) : tiles.next(turn, work)) {
#if HAS_GROUPS && !SWAP
        if (kWide && warp == 1) {
#pragma unroll 1
          for (int i = 0; i < 4; ++i) prefetch_slice(b, work, slice + i * step);
        }
#endif
        int left = work.slices;
#pragma unroll 1
        do {
          if (!kSplit) slice = slice < 0 ? work.slices - 1 : slice == work.slices ? 0 : slice;
          wait(ring.empty(), ring.parity ^ 1);  // passes at once in the first round
#if HAS_BLOCK_SCALES
#if HAS_GROUPS
          const float* const scales_of_b = scales_of(work, scale_b, n, k);
#else
          const float* const scales_of_b = scale_b;
#endif
#if HAS_GROUPS
          if (warp == 2 && is_wide(work))
            Scales{scale_a, scales_of_b, m, n, k}.load<kScaledBlocks + 1>(
                work, slice, scales + ring.stage * kScaleBytes, ring.full());
          else if (warp == 2)
#else
          if (warp == 2)
#endif
            Scales{scale_a, scales_of_b, m, n, k}.load(work, slice, scales + ring.stage * kScaleBytes, ring.full());
          else
#endif
            load_slice(SWAP ? b : a, SWAP ? a : b, work, slice, loads, ring);
#if HAS_GROUPS && !SWAP
          if (warp == 1) prefetch_slice(b, work, slice + 4 * step);
#endif
          ring.next();
          slice += step;
        } while (--left > 0);
        step = -step;  // back: the L2 cache still has what was loaded last
        slice += step;
      }
      if (cluster.blocks() > 1) ring.drain();
    }
  } else {
    share_registers(false);
    const int consumer = warpgroup - 1;
#if !HAS_GROUPS
    const int first_row = kPingPong ? 0 : consumer * kConsumerRows;
#endif
#if HAS_GROUPS
    Matrix to = {c, m, n, ldc};
#else
    const Matrix to = {c, m, n, ldc};
#endif
#if HAS_FINISH && HAS_GROUPS
    Finish finish = {BIAS_OR_NULL, RESIDUAL_OR_NULL, SCALES_OR_NULL, m, n, ldc};
#elif HAS_FINISH
    const Finish finish = {BIAS_OR_NULL, RESIDUAL_OR_NULL, SCALES_OR_NULL, m, n, ldc};
#endif
    Stages ring = first;
    int stored = 0;
    unsigned turn = 0;
#if HAS_SCALES
    if (kInTurn && consumer == 1) pass(kTurn, 256);  // the other one begins
#endif
#pragma unroll 1
    for (bool more = kWide ? next_to_multiply(plans, work) : tiles.has(0); more;
         more = kWide ? next_to_multiply(plans, work) : tiles.next(turn, work)) {
      if constexpr (kPingPong) {
        if (turn % 2 != consumer) {
          ring.skip(work.slices);
          continue;
        }
        if (turn > 0) meet(kTurn + consumer, 256);  // the other one has all its slices
      }
#if HAS_GROUPS
      to.rows = work.end;
#if HAS_FINISH
      finish.scale_b = scales_of(work, scale_b, n, k);
#endif
      const bool wide = is_wide(work);
      const int first_row = kPingPong || wide ? 0 : consumer * kConsumerRows;
      Part part = {first_row};
      if (wide && consumer == 1) {
        part = {0, kBytesA / 2, ((work.col & 127) + BN) / 128 * 16U};
        work.col += BN;
      }
      if (kHalf > 0 && !kWide && work.row + first_row >= work.end) {  // the consumer has none of the group's rows
        let_pass(work.slices, consumer, cluster.blocks(), ring);
        continue;
      }
      if (wide && blocks_of(work) == 1) {
        Sums<kFragments> sums[1];
        const int row = work.row + threadIdx.x / 32 % 4 * 16;
#if HAS_FINISH
        const TileNumbers<1, kFragments> numbers_of_rows(finish, row, work.col);
#endif
        sum_up(work, consumer, part, cluster.blocks(), scales, ring, sums);
#if HAS_FINISH
        finish_sums(finish, numbers_of_rows, row, work.col, sums);
#endif
        store_directly(to, row, work.col, sums[0]);
        continue;
      }
#endif
      Sums<kFragments> sums[kBlocks];
#if HAS_FINISH && !REDUCE_workspace
      const int row_of_warp = work.row + first_row + threadIdx.x / 32 % 4 * 16;
#if !IS_SWIGLU
      const TileNumbers<kBlocks, kFragments> numbers_of_tile(finish, row_of_warp, work.col);
#endif
#endif
#if HAS_GROUPS
      sum_up(work, consumer, part, cluster.blocks(), scales, ring, sums);
#else
      sum_up(work, consumer, first_row, cluster.blocks(), scales, ring, sums);
#endif
#if !REDUCE_workspace
#if IS_SWIGLU
      finish_halves(finish, row_of_warp, work.col / 2, sums);
#elif HAS_FINISH
      finish_sums(finish, numbers_of_tile, row_of_warp, work.col, sums);
#endif
      const int col = work.col / kColumns;
#endif
#if REDUCE_workspace && HAS_FINISH
      add_up_with_others(sums, work, parts, workspace, shared, ring, to, warp - 4, finish);
#elif REDUCE_workspace
      add_up_with_others(sums, work, parts, workspace, shared, ring, to, warp - 4);
#elif EPILOGUE_tma
      // Not `else`: the compiler would put the copies, which few launches need, in front, and the stores would wait for
      // code.
      const int row = work.row + first_row, barrier = kStoring + consumer;
      const unsigned stores = buffers + consumer * kStoreBytes;
#if HAS_GROUPS  // of the rows that a warpgroup stores, some are another group's
      int rest = ldc % 8 == 0 && (SWAP ? col + BN : row + kConsumerRows) <= work.end ? 0 : 1;
#else
      int rest = ldc % 8;
#endif
      if (rest == 0) store_blocks<false>(c_map, to, row, col, sums, stores, stored, barrier);
      asm volatile("" : "+r"(rest));
      if (rest != 0) store_blocks<true>(c_map, to, row, col, sums, stores, stored, barrier);
#else
      const int row = work.row + first_row + threadIdx.x / 32 % 4 * 16;
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) store_directly(to, row + i * 64, col, sums[i]);
#endif
    }
#if HAS_SCALES
    if (kInTurn && consumer == 0) meet(kTurn, 256);
#endif
#if EPILOGUE_tma
    if (threadIdx.x % 128 == 0) await_stores<0>();  // before its shared memory is given away
#endif
  }
}
