// Tiles on their way into shared memory: the ring of stages that a producer fills and consumers empty.
#pragma once
#include "ptx.cuh"

namespace {

/// Waits for the end of the phase with this parity.
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  while (!has_ended(barrier, parity)) continue;
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
  /// Waits until all that was loaded has been read, by all blocks of the cluster: none of them will arrive here again.
  __device__ void drain() {
#pragma unroll 1
    for (int i = 0; i < kStages; ++i, next()) wait(empty(), parity ^ 1);
  }
  /// Makes all barriers, for so many arrivals at each `empty` and `full`. One thread calls it.
  __device__ void make_barriers(int at_empty, int at_full = 1) const {
    for (int i = 0; i < kStages; ++i) {
      make_barrier(barriers + i * 16, at_full);
      make_barrier(barriers + i * 16 + 8, at_empty);
    }
    publish_barriers();
  }
};

}  // namespace
