// What the tensor core kernels here have in common: which tile a block computes, and how sums leave the registers.
// Neither depends on how a product was made. type_c is the element type of C: bf16, f16 or f32.
#pragma once

namespace {

#if type_c_f32
using Result = float;
#else
using Result = unsigned short;  // bits of a bf16 or f16
#endif

/// The position of a tile, in tiles. Blocks that run at the same time share rows of A and columns of B in the L2 cache
/// if their tiles form a square: they go down `group` rows of tiles before they go on to the next column.
__device__ __forceinline__ int2 tile_of(int index, int tiles_m, int tiles_n, int group) {
  const int first = index / (group * tiles_n) * group, rows = min(group, tiles_m - first);
  const int place = index % (group * tiles_n);
  return {first + place % rows, place / rows};
}

/// Two neighbours as C holds them.
__device__ __forceinline__ unsigned pack(float low, float high) {
  unsigned both;
#if type_c_f16
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#else
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#endif
  return both;
}

/// Part of a matrix that a warp writes, from (row, col) on; elements beyond rows and cols do not exist.
template <typename T>
struct Target {
  T* data;
  int row, col, rows, cols, ld;
};

/// Whether so many elements can be stored at once: all of them exist, and each row starts where the first one does.
template <typename T>
__device__ __forceinline__ bool fits(const Target<T>& to, int row, int col, int count) {
  return row < to.rows && col + count <= to.cols && to.ld % count == 0;
}

/// Stores those elements that exist, at the end of a row or where rows start anywhere.
template <typename T, int kCount>
__device__ __forceinline__ void store_one_by_one(const Target<T>& to, int row, int col, const T (&elements)[kCount]) {
  if (row >= to.rows) return;
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    if (col + i < to.cols) to.data[static_cast<long long>(row) * to.ld + col + i] = elements[i];
}

/// Sums of 16 rows as the tensor cores leave them: of each 8 x 8 tile a lane has two neighbours in row lane / 4, and
/// two more eight rows below.
template <int kTiles>
using Sums = float[kTiles][4];

template <bool kExact, int kTiles>
__device__ __forceinline__ void store(const Target<float>& to, const Sums<kTiles>& sums) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = to.row + half * 8 + lane / 4;
    float* const line = to.data + static_cast<long long>(row) * to.ld;
#pragma unroll
    for (int j = 0; j < kTiles; ++j) {
      const int col = to.col + j * 8 + lane % 4 * 2;
      const float pair[] = {sums[j][half * 2], sums[j][half * 2 + 1]};
      if (kExact || fits(to, row, col, 2))
        *reinterpret_cast<float2*>(line + col) = {pair[0], pair[1]};
      else
        store_one_by_one(to, row, col, pair);
    }
  }
}

/// Four lanes hold two elements each of a row of four tiles; afterwards each holds all eight elements of one tile.
__device__ __forceinline__ void transpose_among_four(unsigned (&v)[4]) {
#pragma unroll
  for (int distance = 1; distance < 4; distance *= 2) {
    const bool upper = threadIdx.x & distance;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & distance) continue;
      const unsigned other = __shfl_xor_sync(~0U, upper ? v[i] : v[i + distance], distance);
      (upper ? v[i] : v[i + distance]) = other;
    }
  }
}

/// Lanes exchange elements first, so that each stores 16 bytes, and four of them 64 in a row.
template <bool kExact, int kTiles>
__device__ __forceinline__ void store(const Target<unsigned short>& to, const Sums<kTiles>& sums) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = to.row + half * 8 + lane / 4;
    unsigned short* const line = to.data + static_cast<long long>(row) * to.ld;
#pragma unroll
    for (int j = 0; j < kTiles; j += 4) {
      unsigned v[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) v[t] = pack(sums[j + t][half * 2], sums[j + t][half * 2 + 1]);
      transpose_among_four(v);
      const int col = to.col + (j + lane % 4) * 8;
      if (kExact || fits(to, row, col, 8)) {
        *reinterpret_cast<uint4*>(line + col) = {v[0], v[1], v[2], v[3]};
      } else {
        unsigned short eight[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) eight[i] = static_cast<unsigned short>(v[i / 2] >> i % 2 * 16);
        store_one_by_one(to, row, col, eight);
      }
    }
  }
}

}  // namespace
