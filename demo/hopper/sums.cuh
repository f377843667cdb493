// How a consumer adds up the products of a tile's slices, which the producer loads: in the tensor cores, or slice by
// slice outside of them, with scales or without.
#pragma once
#include "choices.cuh"

namespace {

#if HAS_GROUPS
/// What a consumer multiplies of a stage: rows of the tile from `row` on, and the columns whose part of B begins at a
/// byte of the stage.
struct Part {
  int row;
  unsigned columns = kPartsK * kBytesA;
  unsigned scales = 0;  // of B: how many bytes come before those of its columns

  __device__ __forceinline__ Part operator+(int rows) const { return {row + rows, columns, scales}; }
};

__device__ __forceinline__ int row_of(const Part& part) { return part.row; }
__device__ __forceinline__ unsigned columns_of(const Part& part) { return part.columns; }
__device__ __forceinline__ unsigned scales_before(const Part& part) { return part.scales; }
#else
using Part = int;  // all columns, and rows from this one on

__device__ __forceinline__ int row_of(Part part) { return part; }
__device__ __forceinline__ unsigned columns_of(Part) { return kPartsK * kBytesA; }
__device__ __forceinline__ unsigned scales_before(Part) { return 0; }
#endif

/// Starts the products of one stage for kCount times 64 rows.
template <int kCount>
__device__ __forceinline__ void multiply_slice(unsigned stage, Part of, bool add, Sums<kFragments> (&sums)[kCount]) {
  const unsigned long long a = describe(stage + row_of(of) * 128), b = describe(stage + columns_of(of));
  begin_products();
#pragma unroll
  for (int step = 0; step < kPartsK * 4; ++step) {
    const int part = step / 4, within = step % 4 * 32;  // bytes of k go along inside a swizzled row
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      multiply_async(a + ((part * kBytesA + within + i * 64 * 128) >> 4), b + ((part * kBytesB + within) >> 4),
                     add || step > 0, sums[i]);
  }
  commit_products();
}

/// Sums up the slices of a piece of work, one by one, so that no sum of the tensor cores is longer than a slice. With
/// several consumers of one tile, one multiplies while another adds. `blocks` is how many the cluster has.
template <int kCount>
__device__ __forceinline__ void multiply_and_promote(int slices, int consumer, Part part, unsigned blocks, Stages& ring,
                                                     Sums<kFragments> (&sums)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice, ring.next()) {
    Sums<kFragments> of_slice[kCount];
    wait(ring.full(), ring.parity);
    multiply_slice(ring.data(), part, false, of_slice);
    await_products<0>();
    arrive_in_all(ring.empty(), blocks);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      are_written_here(of_slice[i]);
#pragma unroll
      for (int j = 0; j < kFragments; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j][e] += of_slice[i][j][e];
    }
  }
  if constexpr (kPingPong) pass(kTurn + 1 - consumer, 256);
}

#if HAS_SCALES
/// Starts the products of the next stage.
template <int kCount>
__device__ __forceinline__ void start_slice(Part part, Stages& ring, Sums<kFragments> (&of_slice)[kCount]) {
  wait(ring.full(), ring.parity);
  multiply_slice(ring.data(), part, false, of_slice);
  ring.next();
}

/// Adds 64 rows of a slice, block i of those that the factors are for, times their scales.
template <class FactorsOfRows>
__device__ __forceinline__ void add_rows(const FactorsOfRows& factors, int i, Sums<kFragments>& of_slice,
                                         Sums<kFragments>& sums) {
  are_written_here(of_slice);
  // All sums of one row, then those of the other: neighbours have the same factor, which is not read from its register
  // again.
  constexpr int kAtATime = SWAP || !HAS_BLOCK_SCALES ? 4 : 2;
#pragma unroll
  for (int first = 0; first < 4; first += kAtATime)
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int e = first; e < first + kAtATime; ++e) sums[j][e] += factors(i, j, e) * of_slice[j][e];
}

/// Adds a slice times its scales, whose products are all that were started but the last kPending slices.
template <int kPending, int kCount>
__device__ __forceinline__ void add_slice(const Work& work, Part part, unsigned blocks, unsigned scales, Stages& ring,
                                          Sums<kFragments> (&of_slice)[kCount], Sums<kFragments> (&sums)[kCount]) {
  const Factors<kCount, kFragments> factors(work, scales + ring.stage * kScaleBytes, row_of(part), scales_before(part));
  await_products<kPending>();
  arrive_in_all(ring.empty(), blocks);
  ring.next();
#pragma unroll
  for (int i = 0; i < kCount; ++i) add_rows(factors, i, of_slice[i], sums[i]);
}

/// Starts the products of 64 rows of a stage. What describes its place to wgmma is a sum here: little has to be
/// computed between the arrival of a stage and its first product.
__device__ __forceinline__ void start_rows(const Stages& ring, unsigned rows, unsigned columns,
                                           Sums<kFragments>& of_slice) {
  const unsigned long long a = describe(ring.stages + rows), b = describe(ring.stages + columns);
  begin_products();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    if (kInTurn && step == 1) commit_products();
    const unsigned further = ring.stage * kStageBytes + step * 32;
    multiply_async(moved(a, further), moved(b, further), step > 0, of_slice);
  }
  commit_products();
}

/// Multiplies slices, 64 rows at a time, and adds them times their scales, which are read ahead. For each place in a
/// block of B where tiles begin there is a loop of its own, in which the block of a column is known. Each loop is
/// unrolled kTimes.
template <int kCount, int kTimes, int kPlace = 0>
__device__ __forceinline__ void multiply_and_add(const Work& work, int consumer, Part part, unsigned blocks,
                                                 unsigned scales, Stages& ring, Sums<kFragments> (&sums)[kCount]) {
  if constexpr (kPlace + kNextPlace < 128) {
    if (place_of(work) != kPlace)
      return multiply_and_add<kCount, kTimes, kPlace + kNextPlace>(work, consumer, part, blocks, scales, ring, sums);
  }
  using FactorsHere = Factors<kCount, kFragments, kPlace>;
  wait(ring.full(), ring.parity);
  FactorsHere next(work, scales + ring.stage * kScaleBytes, row_of(part), scales_before(part));
  // A lane has a scale for each column then, and no registers for those of two slices.
  constexpr bool kReadsBehind = SWAP && HAS_BLOCK_SCALES;
#pragma unroll kTimes
  for (int left = work.slices; left > 0; --left) {
    const FactorsHere factors = next;
    Stages ahead = ring;
    ahead.next();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      Sums<kFragments> of_slice;
      if constexpr (kInTurn) meet(kTurn + consumer, 256);
      start_rows(ring, (row_of(part) + i * 64) * 128, columns_of(part), of_slice);
      if constexpr (kInTurn) {
        await_products<1>();  // the rest goes on while the other consumer begins
        pass(kTurn + 1 - consumer, 256);
      }
      if (!kReadsBehind && i + 1 == kCount && left > 1) {
        wait(ahead.full(), ahead.parity);
        next = FactorsHere(work, scales + ahead.stage * kScaleBytes, row_of(part), scales_before(part));
      }
      await_products<0>();
      if (i + 1 == kCount) arrive_in_all(ring.empty(), blocks);
      add_rows(factors, i, of_slice, sums[i]);
    }
    ring = ahead;
    if (kReadsBehind && left > 1) {
      wait(ring.full(), ring.parity);
      next = FactorsHere(work, scales + ring.stage * kScaleBytes, row_of(part), scales_before(part));
    }
  }
}

/// Sums up the slices of a piece of work, each multiplied by its scales.
template <int kCount>
__device__ __forceinline__ void multiply_with_scales(const Work& work, int consumer, Part part, unsigned blocks,
                                                     unsigned scales, Stages& ring, Sums<kFragments> (&sums)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;
  if constexpr (3 * kCount * kFragments * 4 <= 192) {  // as kTwoSlices
    Sums<kFragments> even[kCount], odd[kCount];
    Stages behind = ring;  // at the slice that is added next
    int left = work.slices;
#pragma unroll 1
    for (; left > 1; left -= 2) {
      start_slice(part, ring, even);
      start_slice(part, ring, odd);
      add_slice<1>(work, part, blocks, scales, behind, even, sums);
      add_slice<0>(work, part, blocks, scales, behind, odd, sums);
    }
    if (left == 1) {
      start_slice(part, ring, even);
      add_slice<0>(work, part, blocks, scales, behind, even, sums);
    }
  } else if constexpr (kNextPlace < 128) {  // there are several loops, and 128 x 176 gains nothing by longer ones
    multiply_and_add<kCount, 1>(work, consumer, part, blocks, scales, ring, sums);
  } else if (work.slices < 16) {  // with the loop below, 256 x 128 takes 4 % longer for 4 slices, 2 % for 12
    multiply_and_add<kCount, 4>(work, consumer, part, blocks, scales, ring, sums);
  } else {  // with the loop above, 1 % longer for 56 slices, 3 % for 128
    multiply_and_add<kCount, 8>(work, consumer, part, blocks, scales, ring, sums);
  }
  if constexpr (kPingPong) pass(kTurn + 1 - consumer, 256);
}
#endif

#if HAS_GROUPS
/// Goes past the slices of a piece of work, when they have arrived.
__device__ __forceinline__ void let_pass(int slices, int consumer, unsigned blocks, Stages& ring) {
#pragma unroll 1
  for (; slices > 0; --slices, ring.next()) {
    wait(ring.full(), ring.parity);
#if HAS_SCALES
    if constexpr (kInTurn) {
      meet(kTurn + consumer, 256);
      pass(kTurn + 1 - consumer, 256);
    }
#endif
    __syncwarp();  // nobody of the warp still waits when another one lets the stage be filled again
    arrive_in_all(ring.empty(), blocks);
  }
}
#endif

/// Sums up the slices of a piece of work.
template <int kCount>
__device__ __forceinline__ void multiply(int slices, int consumer, Part part, unsigned blocks, Stages& ring,
                                         Sums<kFragments> (&sums)[kCount]) {
  unsigned before = 0;
  for (int slice = 0; slice < slices; ++slice, ring.next()) {
    wait(ring.full(), ring.parity);
    multiply_slice(ring.data(), part, slice > 0, sums);
    await_products<1>();
    if (slice > 0) arrive_in_all(before, blocks);
    before = ring.empty();
  }
  if constexpr (kPingPong) pass(kTurn + 1 - consumer, 256);
  await_products<0>();
  arrive_in_all(before, blocks);
#pragma unroll
  for (int i = 0; i < kCount; ++i) are_written_here(sums[i]);
}

/// The same in the way that the sums need. `scales` are those of blocks, behind the ring.
template <int kCount>
__device__ __forceinline__ void sum_up(const Work& work, int consumer, Part part, unsigned blocks,
                                       [[maybe_unused]] unsigned scales, Stages& ring,
                                       Sums<kFragments> (&sums)[kCount]) {
#if HAS_SCALES
  if constexpr (kAddsBehind) return multiply_with_scales(work, consumer, part, blocks, scales, ring, sums);
#endif
  if constexpr (PROMOTE)
    multiply_and_promote(work.slices, consumer, part, blocks, ring, sums);
  else
    multiply(work.slices, consumer, part, blocks, ring, sums);
}

}  // namespace
