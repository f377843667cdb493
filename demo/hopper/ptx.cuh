// The instructions of Hopper that C++ has no words for, but for those of the tensor cores (wgmma.cuh): barriers, copies
// by the tensor memory accelerator (TMA), and what lanes of a warp exchange or store together. Addresses of shared
// memory are 32 bits wide.
#pragma once

namespace {

/// What the driver calls CUtensorMap: a matrix in global memory, and the boxes in which it is copied.
struct alignas(64) TensorMap {
  unsigned char opaque[128];
};

// ---- Programmatic launches: a kernel is set up on the device while the one before it ends.

/// Lets the next launch of the stream begin as soon as all blocks came here, if it is programmatic.
__device__ __forceinline__ void begin_next_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// Waits until the launch before is over and its writes are seen: before anything in global memory is read or written.
__device__ __forceinline__ void await_launch_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- Clusters of blocks

/// All threads of the cluster meet: each arrives, and then waits for all. Barriers that were published before are there
/// for all of them; what was written to memory is not ordered, because that takes a fence of the whole device.
__device__ __forceinline__ void arrive_in_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void await_cluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

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

/// A warp arrives at this barrier of each block of its cluster, which has so many; without a branch. Each lane computes
/// an address, and as many use it as there are blocks.
__device__ __forceinline__ void arrive_in_all(unsigned barrier, unsigned blocks) {
  asm volatile(
      "{ .reg .pred alone, here, there; .reg .u32 remote;\n"
      "setp.eq.u32 alone, %1, 1;\n"
      "setp.eq.and.u32 here, %2, 0, alone;\n"
      "setp.lt.and.u32 there, %2, %1, !alone;\n"
      "@here mbarrier.arrive.shared::cta.b64 _, [%0];\n"
      "mapa.shared::cluster.u32 remote, %0, %2;\n"
      "@there mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
      "r"(blocks), "r"(threadIdx.x % 32)
      : "memory");
}

/// Whether this is the thread that speaks for its warp, all of whose threads call this. For one thread that is known in
/// another way, the compiler surrounds each copy of the TMA with a loop.
__device__ __forceinline__ bool elected() {
  unsigned one;
  asm volatile(
      "{ .reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(one));
  return one != 0;
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

/// From the matrix number z of several.
__device__ __forceinline__ void load(const TensorMap& map, int x, int y, int z, unsigned to, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

/// Asks the L2 cache for what this load will read.
__device__ __forceinline__ void prefetch(const TensorMap& map, int x, int y, int z) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global [%0, {%1, %2, %3}];" ::"l"(&map), "r"(x), "r"(y), "r"(z)
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

__device__ __forceinline__ float read_one(unsigned from) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory");
  return x;
}

__device__ __forceinline__ uint2 read_two(unsigned from) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(from) : "memory");
  return v;
}

__device__ __forceinline__ void write_two(unsigned to, uint2 v) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(v.x), "r"(v.y) : "memory");
}

/// Writes four elements to shared memory or to global memory if that is wanted, without a branch.
__device__ __forceinline__ void write_four(bool wanted, unsigned to, float4 v) {
  asm volatile(
      "{ .reg .pred wanted;\n"
      "setp.ne.u32 wanted, %0, 0;\n"
      "@wanted st.shared.v4.f32 [%1], {%2, %3, %4, %5}; }" ::"r"(static_cast<unsigned>(wanted)),
      "r"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
      : "memory");
}
__device__ __forceinline__ void write_four(bool wanted, float4* to, float4 v) {
  asm volatile(
      "{ .reg .pred wanted;\n"
      "setp.ne.u32 wanted, %0, 0;\n"
      "@wanted st.global.cg.v4.f32 [%1], {%2, %3, %4, %5}; }" ::"r"(static_cast<unsigned>(wanted)),
      "l"(__cvta_generic_to_global(to)), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
      : "memory");
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

/// Adds one to what is less than `most`, and makes that 0; orders nothing.
__device__ __forceinline__ void count_around(unsigned* counter, unsigned most) {
  asm volatile("red.relaxed.gpu.global.inc.u32 [%0], %1;" ::"l"(counter), "r"(most) : "memory");
}

__device__ __forceinline__ unsigned count_of(const unsigned* counter) {
  unsigned count;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(counter) : "memory");
  return count;
}

}  // namespace
