// The instructions of Hopper that C++ has no words for, but for those of the tensor cores (wgmma.cuh): barriers, copies
// by the tensor memory accelerator (TMA), and what lanes of a warp exchange or store together. Addresses of shared
// memory are 32 bits wide.
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

/// Whether the phase with this parity has ended; waits for a while before it says no.
__device__ __forceinline__ bool has_ended(unsigned barrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

/// `threads` threads of the block meet at one of its 16 named barriers; __syncthreads() is barrier 0.
__device__ __forceinline__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Arrives at a barrier at which others meet, without waiting.
__device__ __forceinline__ void pass(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

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

// ---- Shared memory and what a warp does together

/// Transposes 8 x 8 elements of 16 bits, of which each lane has two neighbours in row lane / 4.
__device__ __forceinline__ unsigned transposed(unsigned pair) {
  unsigned other;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(other) : "r"(pair));
  return other;
}

/// Stores four matrices of 8 x 8 elements of 16 bits, or their transposes. Of each a lane has two neighbours in row
/// lane / 4; row lane % 8 of matrix lane / 8 lies at the lane's address.
template <bool kTransposed>
__device__ __forceinline__ void store_matrices(unsigned to, unsigned first, unsigned second, unsigned third,
                                               unsigned fourth) {
  if constexpr (kTransposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(first),
                 "r"(second), "r"(third), "r"(fourth)
                 : "memory");
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(first), "r"(second),
                 "r"(third), "r"(fourth)
                 : "memory");
}

__device__ __forceinline__ uint2 read_two(unsigned from) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(from) : "memory");
  return v;
}

__device__ __forceinline__ float4 read_four(unsigned from) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(from)
               : "memory");
  return v;
}

// ---- Counters in global memory

/// Adds one. Whoever reads that sees what this thread, and those that it met, wrote before.
__device__ __forceinline__ void count_up(unsigned* counter) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

__device__ __forceinline__ unsigned count_of(const unsigned* counter) {
  unsigned count;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(counter) : "memory");
  return count;
}

}  // namespace
