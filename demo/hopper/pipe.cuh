// Tiles on their way into shared memory and out of it: boxes that the tensor memory accelerator (TMA) copies, the
// barriers that count their bytes, and the ring of stages that a producer fills and consumers empty.
#pragma once

namespace {

/// What the driver calls CUtensorMap: a matrix in global memory, and the boxes in which it is copied.
struct alignas(64) TensorMap {
  unsigned char opaque[128];
};

// ---- Clusters of blocks

/// All threads of the cluster meet: each arrives, and then waits for all. What they wrote before they arrived is seen
/// by all after it.
__device__ __forceinline__ void arrive_in_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void await_cluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/// The same address in the shared memory of another block of the cluster.
__device__ __forceinline__ unsigned address_in(unsigned rank, unsigned address) {
  unsigned remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

// ---- Barriers. Arriving releases and waiting acquires within the block only, the default: what the barriers order are
// copies of the TMA and reads of wgmma, which are complete when they are reported. With the scope of the cluster each
// would flush.

__device__ __forceinline__ void make_barrier(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

/// Shows new barriers to the TMA and to the other blocks of the cluster.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives, and lets the barrier wait for `bytes` from the TMA besides.
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives at the same barrier of another block of the cluster.
__device__ __forceinline__ void arrive_in(unsigned rank, unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_in(rank, barrier)) : "memory");
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

/// `threads` threads of the block meet at one of its 16 named barriers; __syncthreads() is barrier 0.
__device__ __forceinline__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Arrives at a barrier at which others meet, without waiting.
__device__ __forceinline__ void pass(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// The ring as one side of it goes around. Behind its stages lie two barriers for each: `full` when its bytes have
/// arrived, `empty` when all consumers have read it.
template <int kStages, int kStageBytes>
struct Ring {
  unsigned stages, barriers;  // addresses in shared memory
  int stage = 0;
  unsigned parity = 0;  // of the present round

  __device__ unsigned data() const { return stages + stage * kStageBytes; }
  __device__ unsigned full() const { return barriers + stage * 16; }
  __device__ unsigned empty() const { return full() + 8; }
  __device__ void next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
  /// Goes past `count` stages that belong to others.
  __device__ void skip(int count) {
    stage += count;
    parity ^= stage / kStages & 1;
    stage %= kStages;
  }
  /// Makes all barriers, for so many arrivals at each `empty`. One thread calls it.
  __device__ void make_barriers(int arrivals) const {
    for (int i = 0; i < kStages; ++i) {
      make_barrier(barriers + i * 16, 1);
      make_barrier(barriers + i * 16 + 8, arrivals);
    }
    publish_barriers();
  }
};

// ---- Boxes. x is the element within a row, y the row; what lies outside of the matrix is read as zero and not
// written.

__device__ __forceinline__ void prefetch(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

__device__ __forceinline__ void load(const TensorMap& map, int x, int y, unsigned to, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

/// Loads for the blocks of the cluster whose bits are set, to the same place and barrier in each.
__device__ __forceinline__ void load_for(unsigned blocks, const TensorMap& map, int x, int y, unsigned to,
                                         unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(static_cast<unsigned short>(blocks))
      : "memory");
}

/// Copies bytes that lie one behind the other, a multiple of 16.
__device__ __forceinline__ void load_bytes(const void* from, int bytes, unsigned to, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
               : "memory");
}

/// What other threads wrote to global memory, and this one has seen, is seen by copies that it asks for later.
__device__ __forceinline__ void show_global_to_tma() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

/// What threads wrote to shared memory is seen by the copies of the TMA that are asked for later.
__device__ __forceinline__ void show_to_tma() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void store(const TensorMap& map, int x, int y, unsigned from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x),
               "r"(y), "r"(from)
               : "memory");
}

/// Makes a group of what this thread has asked to be stored since the last one.
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until at most the latest kPending groups have still to read shared memory.
template <int kPending>
__device__ __forceinline__ void await_stores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

}  // namespace
