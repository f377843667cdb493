// Scales of blocks of e4m3 matrices: one for 128 of k in a row of A, and one for 128 of k in 128 columns of B. They
// arrive in the ring together with the slices that they belong to, whose sums are multiplied by them. The macros are
// those of `defines: [scale_a, scale_b]` in a tuning file (docs/tuning-file.md, Scales of fp8): without scales there
// are none, and nothing of this is compiled.
#pragma once
#include "pipe.cuh"
#include "schedule.cuh"

#if HAS_BLOCK_SCALES
#if !PROMOTE || BK != 128
#error "a slice has one scale in each row of A: PROMOTE has to be 1, and BK 128"
#endif

namespace {

enum {
  kScaledRows = SWAP ? BN : BM,  // of A in a tile
  // Columns of a tile that are in one block of B, wherever the tile begins.
  kTogether = BN % 128 == 0  ? 128
              : BN % 64 == 0 ? 64
              : BN % 32 == 0 ? 32
              : BN % 16 == 0 ? 16
                             : 8,
  kScaledBlocks = SWAP ? (BM + 127) / 128 : (127 - kTogether + BN) / 128 + 1,  // of B, at most
  // Of a slice: those of A, four of each block of B, and where the first ones are.
  kFirstOfB = kScaledRows + 4,
  kFirsts = kFirstOfB + 12,
  kScaleBytes = (kFirsts + 4) * 4,
};

/// The scales in global memory, as docs/tuning-file.md says. What is copied begins and ends at multiples of 16 bytes:
/// up to three numbers come before those that are wanted.
struct Scales {
  const float *a, *b;
  int m, n, k;

  __device__ __forceinline__ static int first_row(const Work& work) { return SWAP ? work.col : work.row; }
  __device__ __forceinline__ static int first_col(const Work& work) { return SWAP ? work.row : work.col; }

  /// Asks for those of a tile's slice, which are of so many blocks of B.
  template <int kBlocks = kScaledBlocks>
  __device__ __forceinline__ void load(const Work& work, int slice, unsigned to, unsigned barrier) const {
    const int slices = (k + 127) / 128, ld = (slices + 3) / 4 * 4;
    // A cluster may have tiles beyond C.
    const int first = slice * m + min(first_row(work), m - 1), from = first / 4 * 4;
    const int count = min((slices * m + 3) / 4 * 4 - from, kScaledRows + 4);
    write_two(to + kFirsts * 4, {first % 4 * 4U, slice % 4 * 4U});
    expect(barrier, (count + kBlocks * 4) * 4);
    load_bytes(a + from, count * 4, to, barrier);
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      const int block = min(first_col(work) / 128 + i, (n - 1) / 128);
      load_bytes(b + block * ld + slice / 4 * 4, 16, to + (kFirstOfB + i * 4) * 4, barrier);
    }
  }
};

enum { kNextPlace = SWAP ? 128 : kTogether };  // from one place in a block of B where tiles begin to the next
/// Where a tile begins within a block of B, if its columns are B's.
__device__ __forceinline__ int place_of(const Work& work) { return SWAP ? 0 : work.col % 128; }

/// What a lane multiplies the sums of a slice by: those of kBlocks times 64 rows from `row` on of the tile. `before`
/// are the bytes of B's scales that come before those of the work's first column, whose place in a block of B is kPlace
/// if that is not -1.
template <int kBlocks, int kFragments, int kPlace = -1>
struct Factors {
#if SWAP
  float of_row[kFragments][2], of_block[kBlocks];  // a row of A is a column of the tile
#else
  float of[kBlocks][2][kScaledBlocks];
  int within;  // its block of B, the tile's first column
#endif

  __device__ __forceinline__ Factors(const Work& work, unsigned scales, int row, unsigned before) {
    const uint2 first = read_two(scales + kFirsts * 4);  // bytes
    const int lane = threadIdx.x % 32, within = Scales::first_col(work) & 127;
    const unsigned of_b = scales + kFirstOfB * 4 + before + first.y;
    scales += first.x;
#if SWAP
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) of_row[j][e] = read_one(scales + (j * 8 + lane % 4 * 2 + e) * 4);
#pragma unroll
    for (int i = 0; i < kBlocks; ++i)
      of_block[i] = read_one(of_b + (kScaledBlocks == 1 ? 0 : (within + row + i * 64) / 128) * 16);
#else
    this->within = within;
    row += threadIdx.x / 32 % 4 * 16 + lane / 4;
    float of_block[kScaledBlocks];
#pragma unroll
    for (int b = 0; b < kScaledBlocks; ++b) of_block[b] = read_one(of_b + b * 16);
#pragma unroll
    for (int i = 0; i < kBlocks; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int b = 0; b < kScaledBlocks; ++b)
          of[i][half][b] = read_one(scales + (row + i * 64 + half * 8) * 4) * of_block[b];
#endif
  }

  /// Of sum e of a fragment.
  __device__ __forceinline__ float operator()(int i, int j, int e) const {
#if SWAP
    return of_row[j][e % 2] * of_block[i];
#else
    const int col = j * 8 / kTogether * kTogether, block = col / 128, next = min(block + 1, kScaledBlocks - 1);
    return (kPlace < 0 ? within : kPlace) + col % 128 < 128 ? of[i][e / 2][block] : of[i][e / 2][next];
#endif
  }
};

}  // namespace
#elif HAS_LINE_SCALES
namespace {

enum { kScaleBytes = 0, kNextPlace = 128 };
__device__ __forceinline__ int place_of(const Work&) { return 0; }

/// Of sums whose scales are those of all slices (finish.cuh).
template <int kBlocks, int kFragments, int kPlace = -1>
struct Factors {
  __device__ __forceinline__ Factors(const Work&, unsigned, int, unsigned) {}
  __device__ __forceinline__ float operator()(int, int, int) const { return 1; }
};

}  // namespace
#endif
