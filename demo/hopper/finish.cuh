// From sums to elements of C in registers, before they are stored: the scales that all of k shares, and the bias, the
// function and the residual of the problem, whose macros finish.h lists. A plain product has none, and nothing of this
// is compiled. Of scales, the macros are those of `defines: [scale_a, scale_b]` (docs/tuning-file.md, Scales of fp8).
#pragma once
#include "finish.h"

#if scale_a_1x128 && scale_b_128x128
#define HAS_BLOCK_SCALES 1
#else
#define HAS_BLOCK_SCALES 0
#endif
// Other kernels keep the binaries that databases name.
#define IS_PROGRAMMATIC (HAS_BLOCK_SCALES && !groups_contiguous && !groups_masked)
#if (scale_a_tensor || scale_a_row) && (scale_b_tensor || scale_b_col)
#define HAS_LINE_SCALES 1
#define SCALES_OR_NULL scale_a, scale_b  // the arguments of a kernel
#else
#define HAS_LINE_SCALES 0
#define SCALES_OR_NULL nullptr, nullptr
#endif
#if HAS_BLOCK_SCALES || HAS_LINE_SCALES
#define HAS_SCALES 1
#else
#define HAS_SCALES 0
#endif
#if HAS_EPILOGUE || HAS_LINE_SCALES
#define HAS_FINISH 1
#else
#define HAS_FINISH 0
#endif
#if !HAS_SCALES && (scale_a_tensor || scale_a_row || scale_a_1x128 || scale_a_128x128 || scale_b_tensor || \
                    scale_b_col || scale_b_1x128 || scale_b_128x128)
#error "the kernels have scales tensor or row for A together with tensor or col for B, or 1x128 together with 128x128"
#endif

#if HAS_FINISH
namespace {

#if !type_c_f32
__device__ __forceinline__ float widened(float number) { return number; }
#endif
__device__ __forceinline__ float widened(Result element) {
#if type_c_f32
  return element;
#elif type_c_f16
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(element));
  return x;
#else
  return __builtin_bit_cast(float, static_cast<unsigned>(element) << 16);
#endif
}

/// What the kernel was given besides the matrices; null where there is none. The residual is laid out as C.
struct Finish {
  const Result *bias, *residual;
  const float *scale_a, *scale_b;
  int rows, cols, ld;  ///< of C

  /// Of what is beyond C, the element is some number, and no branch keeps loads from being shared.
  __device__ __forceinline__ int row_of(int row) const { return row < rows ? row : rows - 1; }
  __device__ __forceinline__ int col_of(int col) const { return col < cols ? col : cols - 1; }

  /// `further` is the sum n columns further on, which swiglu alone takes.
  __device__ __forceinline__ float operator()(float sum, int row, int col, float further = 0) const {
#if HAS_LINE_SCALES
#if scale_a_row
    const float of_a = scale_a[row_of(row)];
#else
    const float of_a = *scale_a;
#endif
#if scale_b_col
    const float *const of_b = scale_b + col_of(col), *const of_further = of_b + cols;
#else
    const float *const of_b = scale_b, *const of_further = scale_b;
#endif
    sum *= of_a * *of_b;
    if (IS_SWIGLU) further *= of_a * *of_further;
#endif
#if defined(epilogue_bias_row)
    sum += widened(bias[col_of(col)]);
    if (IS_SWIGLU) further += widened(bias[cols + col_of(col)]);
#elif defined(epilogue_bias_col)
    sum += widened(bias[row_of(row)]);
    if (IS_SWIGLU) further += widened(bias[row_of(row)]);
#endif
    const float y = IS_SWIGLU ? activated(sum) * further : activated(sum);
#if HAS_RESIDUAL
    return y + residual_at(row, col);
#else
    return y;
#endif
  }

#if HAS_RESIDUAL
  // To keep the columns within C as the rows are would take more registers than large tiles leave.
  __device__ __forceinline__ float residual_at(int row, int col) const {
    const Result* const line = residual + static_cast<long long>(row_of(row)) * ld;
    return widened(col < cols ? line[col] : Result());
  }
  /// The elements of 16 bits at an even column and behind it.
  __device__ __forceinline__ unsigned residual_pair(int row, int col) const {
    const Result* const line = residual + static_cast<long long>(row_of(row)) * ld;
    unsigned pair = 0;
    if (ld % 2 == 0 && cols % 2 == 0) {
      if (col < cols) pair = *reinterpret_cast<const unsigned*>(line + col);
    } else {
      if (col < cols) pair = line[col];
      if (col + 1 < cols) pair |= static_cast<unsigned>(line[col + 1]) << 16;
    }
    return pair;
  }
#endif
};

}  // namespace
#endif
