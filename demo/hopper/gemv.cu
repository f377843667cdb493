// C = A * B for few rows of A, up to 8, where nothing but reading B costs time: bf16, f16 or e4m3 in, sums in f32, C
// in bf16, f16 or f32. A is row-major, B is N x K: both are read along k.
//
// A warp has ROWS_PER_WARP rows of B. Its lanes read 16 bytes of each row, 512 in a line, UNROLL times before they use
// the first, so that enough is on its way from memory. A waits in shared memory, and a piece of it is used for all rows
// of B.
//
//   ROWS_OF_A       how many A has, 1 to 8
//   ROWS_PER_WARP   rows of B, 1 to 4
//   UNROLL          pieces of 16 bytes of each row that are on their way at a time
//   WARPS           of a block
//   type_a, type_c  bf16, f16 or e4m3; bf16, f16 or f32
//   scale_a_tensor, scale_a_row; scale_b_tensor, scale_b_col; or scale_a_1x128 and scale_b_128x128   both or none: e4m3
//                   with scales (docs/tuning-file.md, Scales of fp8)
//   epilogue_relu and its like   see finish.h
//
// Dynamic shared memory: as many bytes as A and its scales have. Rows of A and B must start at multiples of 16
// bytes, and have a multiple of 16 bytes.

#if !defined(ROWS_OF_A) || !defined(ROWS_PER_WARP) || !defined(UNROLL) || !defined(WARPS)
#error "needs -D of ROWS_OF_A ROWS_PER_WARP UNROLL WARPS; see the head of the file"
#endif

#if type_c_f32
using Result = float;
#else
using Result = unsigned short;  // bits of a bf16 or f16
#endif

#if type_a_e4m3
using Element = unsigned char;
#else
using Element = unsigned short;
#endif

// It uses Result.
#include "finish.cuh"
#include "ptx.cuh"

#if IS_SWIGLU
#error "a warp of this kernel has no rows of both halves of swiglu's B"
#endif

namespace {

constexpr int kPiece = 16 / sizeof(Element);  // elements in 16 bytes
constexpr int kLine = 32 * kPiece;            // elements that a warp reads of a row at a time

/// Two elements of 16 bits.
__device__ __forceinline__ float2 unpack(unsigned pair) {
#if type_a_f16 || type_a_e4m3
  float2 both;
  asm("{ .reg .f16 low, high;\n mov.b32 {low, high}, %2;\n cvt.f32.f16 %0, low;\n cvt.f32.f16 %1, high; }"
      : "=f"(both.x), "=f"(both.y)
      : "r"(pair));
  return both;
#else
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000)};
#endif
}

/// Two elements of 8 bits, the lower ones of a word, as f16.
__device__ __forceinline__ unsigned to_f16(unsigned pair) {
  unsigned both;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(both) : "h"(static_cast<unsigned short>(pair)));
  return both;
}

__device__ __forceinline__ void unpack(uint4 piece, float (&elements)[kPiece]) {
  const unsigned words[] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
  for (int i = 0; i < kPiece / 2; ++i) {
#if type_a_e4m3
    const float2 pair = unpack(to_f16(words[i / 2] >> i % 2 * 16));
#else
    const float2 pair = unpack(words[i]);
#endif
    elements[2 * i] = pair.x;
    elements[2 * i + 1] = pair.y;
  }
}

__device__ __forceinline__ Result rounded(float sum) {
#if type_c_f32
  return sum;
#else
  unsigned pair;
#if type_c_f16
  asm("cvt.rn.f16x2.f32 %0, %1, %1;" : "=r"(pair) : "f"(sum));
#else
  asm("cvt.rn.bf16x2.f32 %0, %1, %1;" : "=r"(pair) : "f"(sum));
#endif
  return static_cast<Result>(pair);
#endif
}

/// Reads what nobody reads again.
__device__ __forceinline__ uint4 read_once(const Element* from) {
  uint4 piece;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(piece.x), "=r"(piece.y), "=r"(piece.z), "=r"(piece.w)
               : "l"(from));
  return piece;
}

/// What a lane has of the rows of B at a time.
struct Pieces {
  uint4 of[ROWS_PER_WARP][UNROLL];
#if HAS_BLOCK_SCALES
  float scales[ROWS_PER_WARP][UNROLL];
#endif
};

#if HAS_BLOCK_SCALES
/// Reads the scales of pieces of these rows of B; L of them, padded to a multiple of 4, are those of 128 rows.
__device__ __forceinline__ void read_scales(const float* scale_b, int first, int n, int start, int k, Pieces& to) {
#pragma unroll
  for (int u = 0; u < UNROLL; ++u)
#pragma unroll
    for (int r = 0; r < ROWS_PER_WARP; ++r)
      if (start + u * kLine < k)
        to.scales[r][u] = scale_b[static_cast<long long>(min(first + r, n - 1) / 128) * ((k + 511) / 512 * 4) +
                                  (start + u * kLine) / 128];
}
#endif

__device__ __forceinline__ void read(const Element* const (&row)[ROWS_PER_WARP], int start, int k, Pieces& to) {
#pragma unroll
  for (int u = 0; u < UNROLL; ++u)
#pragma unroll
    for (int r = 0; r < ROWS_PER_WARP; ++r)
      to.of[r][u] = start + u * kLine < k ? read_once(row[r] + start + u * kLine) : uint4{};
}

}  // namespace

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    gemm(const Element* __restrict__ a, const Element* __restrict__ b, Result* __restrict__ c, int n, int k, int lda,
         int ldb, int ldc
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
    ) {
  extern __shared__ __align__(16) Element rows_of_a[];
  const int lane = threadIdx.x % 32, first = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS_PER_WARP;
  const Element* row[ROWS_PER_WARP];
#pragma unroll
  for (int r = 0; r < ROWS_PER_WARP; ++r) row[r] = b + static_cast<long long>(min(first + r, n - 1)) * ldb;

#if IS_PROGRAMMATIC
  begin_next_launch();
  await_launch_before();
#endif
  Pieces pieces;
  read(row, lane * kPiece, k, pieces);  // on their way while A is copied
#if HAS_BLOCK_SCALES
  read_scales(scale_b, first, n, lane * kPiece, k, pieces);
  float* const scales_of_a = reinterpret_cast<float*>(rows_of_a + ROWS_OF_A * k);
  for (int i = threadIdx.x; i < (k + 127) / 128 * ROWS_OF_A; i += WARPS * 32) scales_of_a[i] = scale_a[i];
#endif
  for (int i = 0; i < ROWS_OF_A; ++i)
    for (int at = threadIdx.x * kPiece; at < k; at += WARPS * kLine)
      *reinterpret_cast<uint4*>(rows_of_a + i * k + at) = *reinterpret_cast<const uint4*>(a + i * lda + at);
  __syncthreads();

#if HAS_FINISH
  const Finish finish = {BIAS_OR_NULL, RESIDUAL_OR_NULL, SCALES_OR_NULL, ROWS_OF_A, n, ldc};
#endif
  float sums[ROWS_PER_WARP][ROWS_OF_A] = {};
  for (int start = lane * kPiece; start < k; start += kLine * UNROLL) {
    Pieces next;
    read(row, start + kLine * UNROLL, k, next);
#if HAS_BLOCK_SCALES
    read_scales(scale_b, first, n, start + kLine * UNROLL, k, next);
#endif
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      if (start + u * kLine >= k) break;
      float weights[ROWS_PER_WARP][kPiece];
#pragma unroll
      for (int r = 0; r < ROWS_PER_WARP; ++r) unpack(pieces.of[r][u], weights[r]);
#pragma unroll
      for (int i = 0; i < ROWS_OF_A; ++i) {
        float x[kPiece];
        unpack(*reinterpret_cast<const uint4*>(rows_of_a + i * k + start + u * kLine), x);
#if HAS_BLOCK_SCALES
        const float scale = scales_of_a[(start + u * kLine) / 128 * ROWS_OF_A + i];
#pragma unroll
        for (int r = 0; r < ROWS_PER_WARP; ++r) {
          float sum = 0;
#pragma unroll
          for (int e = 0; e < kPiece; ++e) sum += weights[r][e] * x[e];
          sums[r][i] += scale * pieces.scales[r][u] * sum;
        }
#else
#pragma unroll
        for (int r = 0; r < ROWS_PER_WARP; ++r)
#pragma unroll
          for (int e = 0; e < kPiece; ++e) sums[r][i] += weights[r][e] * x[e];
#endif
      }
    }
    pieces = next;
  }
#pragma unroll
  for (int r = 0; r < ROWS_PER_WARP; ++r)
#pragma unroll
    for (int i = 0; i < ROWS_OF_A; ++i) {
      float sum = sums[r][i];
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0U, sum, distance);
#if HAS_FINISH
      sum = finish(sum, i, first + r);
#endif
      if (lane == 0 && first + r < n) c[static_cast<long long>(i) * ldc + first + r] = rounded(sum);
    }
}
