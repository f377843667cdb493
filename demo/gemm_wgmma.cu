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
#if type_a_f16
#define OPERAND "f16"
#else
#define OPERAND "bf16"
#endif

#include "gemm_tiles.cuh"

namespace {

constexpr int kThreads = (CONSUMERS + 1) * 128;
constexpr int kWidth = 64;  // elements of k in the 128 bytes that a swizzled row has
constexpr int kRowsPerConsumer = BM / CONSUMERS, kBlocks = kRowsPerConsumer / 64;  // of an wgmma, 64 rows
constexpr int kBytesA = BM * kWidth * 2, kBytesB = BN * kWidth * 2, kPartsK = BK / kWidth;
constexpr int kStageBytes = (kBytesA + kBytesB) * kPartsK;

static_assert(CONSUMERS >= 1 && CONSUMERS <= 3, "one to three warpgroups share the registers");
static_assert(BM % (64 * CONSUMERS) == 0 && BN % 32 == 0 && BN <= 256, "shapes that wgmma has");
static_assert(BK % kWidth == 0 && BN % (8 * CLUSTER) == 0 && STAGES >= 2, "whole swizzled rows, eight at a time");

/// What the driver calls CUtensorMap.
struct alignas(64) TensorMap {
  unsigned char opaque[128];
};

__device__ __forceinline__ unsigned rank_in_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of the cluster meet.
__device__ __forceinline__ void sync_cluster() {
  if (CLUSTER == 1) return __syncthreads();
  asm volatile("barrier.cluster.arrive.release;\n barrier.cluster.wait.acquire;" ::: "memory");
}

// ---- Barriers: addresses in shared memory

__device__ __forceinline__ void make_barrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

/// Arrives, and lets the barrier wait for `bytes` from the TMA besides.
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Arriving releases and waiting acquires within the block only, the default: what the barriers order are copies of the
// TMA and reads of wgmma, which are complete when they are reported. With the scope of the cluster each would flush.

/// Arrives at the same barrier of another block of the cluster.
__device__ __forceinline__ void arrive(unsigned barrier, unsigned rank) {
  if (CLUSTER == 1) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
    return;
  }
  asm volatile(
      "{ .reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

/// Waits for the end of the phase with this parity.
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  unsigned done;
  do {
    asm volatile(
        "{ .reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (!done);
}

/// The ring as one side of it goes around: stages, and the parity of the present round.
struct Ring {
  unsigned shared, parity = 0;
  int stage = 0;

  __device__ unsigned data() const { return shared + stage * kStageBytes; }
  __device__ unsigned full() const { return full(stage); }
  __device__ unsigned empty() const { return empty(stage); }
  __device__ unsigned full(int i) const { return shared + STAGES * kStageBytes + i * 16; }
  __device__ unsigned empty(int i) const { return full(i) + 8; }
  __device__ void next() {
    if (++stage < STAGES) return;
    stage = 0;
    parity ^= 1;
  }
};

// ---- The producer

/// Asks for the box of a matrix at (k, row), for this block or, at the same place, for all of the cluster.
template <bool kForAll>
__device__ __forceinline__ void load(const TensorMap& map, int k, int row, unsigned to, unsigned barrier) {
  if constexpr (kForAll)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(&map), "r"(k), "r"(row), "r"(barrier), "h"(static_cast<unsigned short>((1 << CLUSTER) - 1))
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            to),
        "l"(&map), "r"(k), "r"(row), "r"(barrier)
        : "memory");
}

/// Fills one stage. The barrier counts the bytes of the other blocks' parts of B, too.
__device__ __forceinline__ void load_slice(const TensorMap& a, const TensorMap& b, int row, int col, int k,
                                           unsigned rank, const Ring& ring) {
  constexpr int kShare = BN / CLUSTER;
  expect(ring.full(), kStageBytes);
  const unsigned to_a = ring.data(), to_b = to_a + kPartsK * kBytesA + rank * kShare * kWidth * 2;
#pragma unroll
  for (int part = 0; part < kPartsK; ++part) {
    load<false>(a, k + part * kWidth, row, to_a + part * kBytesA, ring.full());
    load<(CLUSTER > 1)>(b, k + part * kWidth, col + rank * kShare, to_b + part * kBytesB, ring.full());
  }
}

// ---- The consumers

/// Describes rows of 64 elements from `address` on to wgmma: 1024 bytes from eight rows to the next, 128-byte swizzle.
__device__ __forceinline__ unsigned long long describe(unsigned address) {
  return (address & 0x3ffff) >> 4 | 1ULL << 16 | 1024ULL >> 4 << 32 | 1ULL << 62;
}

// The registers of an wgmma have to be listed. Descriptors come first, so that their numbers do not depend on BN.
#define REGISTERS_32 "%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18"
#define REGISTERS_64 REGISTERS_32 ",%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34"
#define REGISTERS_96 REGISTERS_64 ",%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50"
#define REGISTERS_128 REGISTERS_96 ",%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66"
#define REGISTERS_160 REGISTERS_128 ",%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82"
#define REGISTERS_192 REGISTERS_160 ",%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98"
#define REGISTERS_224 REGISTERS_192 ",%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114"
#define REGISTERS_256 REGISTERS_224 ",%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127,%128,%129,%130"
#define SUMS(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define SUMS_32(j) SUMS(j), SUMS(j + 1), SUMS(j + 2), SUMS(j + 3)
#define SUMS_64 SUMS_32(0), SUMS_32(4)
#define SUMS_96 SUMS_64, SUMS_32(8)
#define SUMS_128 SUMS_96, SUMS_32(12)
#define SUMS_160 SUMS_128, SUMS_32(16)
#define SUMS_192 SUMS_160, SUMS_32(20)
#define SUMS_224 SUMS_192, SUMS_32(24)
#define SUMS_256 SUMS_224, SUMS_32(28)
#define JOIN(x, y) x##y
#define OF(list, columns) JOIN(list, columns)
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

/// Starts d = a * b, or d += a * b, for 64 x BN sums and 16 elements of k.
__device__ __forceinline__ void multiply_async(unsigned long long a, unsigned long long b, bool add, Sums<BN / 8>& d) {
  int adds = add;
  asm volatile(
      "{ .reg .pred p;\n setp.ne.b32 p, %2, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n" TEXT_OF(BN) "k16.f32." OPERAND "." OPERAND
                                                      " {" OF(REGISTERS_, BN) "}, %0, %1, p, 1, 1, 0, 0; }"
      : "+l"(a), "+l"(b), "+r"(adds), OF(SUMS_, BN));
}

__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until all but the latest kPending committed groups are done.
template <int kPending>
__device__ __forceinline__ void await_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Tells the compiler that the sums are not known before this point: what it sees of them is the start of an wgmma.
__device__ __forceinline__ void are_written_here(Sums<BN / 8> (&sums)[kBlocks]) {
#pragma unroll
  for (int i = 0; i < kBlocks; ++i)
#pragma unroll
    for (int j = 0; j < BN / 8; ++j)
      asm volatile("" : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])::"memory");
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
__device__ __forceinline__ void release(unsigned empty) {
  if (threadIdx.x % 32 < CLUSTER) arrive(empty, threadIdx.x % 32);
}

template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ __forceinline__ void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

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
  Ring ring{static_cast<unsigned>(__cvta_generic_to_shared(memory))};
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      make_barrier(ring.full(i), 1);
      make_barrier(ring.empty(i), CONSUMERS * 4 * CLUSTER);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  sync_cluster();

  const unsigned rank = CLUSTER > 1 ? rank_in_cluster() : 0;
  // The same in all lanes, and known to be: addresses of wgmma are of a warp, not of a thread.
  const int warpgroup = __shfl_sync(~0U, threadIdx.x / 128, 0), slices = (k + BK - 1) / BK;
  const Tiles tiles = {m, n, group};
  const int first = blockIdx.x / CLUSTER, step = gridDim.x / CLUSTER;
  if (warpgroup == 0) {
    if constexpr (CONSUMERS > 1) leave_registers<CONSUMERS == 2 ? 24 : 32>();
    if (threadIdx.x == 0) {
      for (int tile = first; tile < tiles.count(); tile += step) {
        const int2 corner = tiles.corner(tile, rank);
        for (int slice = 0; slice < slices; ++slice, ring.next()) {
          wait(ring.empty(), ring.parity ^ 1);  // passes at once in the first round
          load_slice(a, b, corner.x, corner.y, slice * BK, rank, ring);
        }
      }
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
      are_written_here(sums);
      const int2 corner = tiles.corner(tile, rank);
      const int row = corner.x + first_row + threadIdx.x / 32 % 4 * 16;
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) store<false>(Target<Result>{c, row + i * 64, corner.y, m, n, ldc}, sums[i]);
    }
  }
  sync_cluster();  // nobody leaves while another may still arrive at its barriers
}
