// From sums to elements of C in registers, before they are stored: the bias, the function and the residual of the
// problem, whose macros finish.h lists. A plain product has none, and nothing of this is compiled.
#pragma once
#include "finish.h"

#if HAS_EPILOGUE
namespace {

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
  int rows, cols, ld;  ///< of C

  /// Of what is beyond C, the element is some number, and no branch keeps loads from being shared.
  __device__ __forceinline__ int row_of(int row) const { return row < rows ? row : rows - 1; }
  __device__ __forceinline__ int col_of(int col) const { return col < cols ? col : cols - 1; }

  /// `further` is the sum n columns further on, which swiglu alone takes.
  __device__ __forceinline__ float operator()(float sum, int row, int col, float further = 0) const {
#if defined(epilogue_bias_row)
    sum += widened(bias[col_of(col)]);
    if (IS_SWIGLU) further += widened(bias[cols + col_of(col)]);
#elif defined(epilogue_bias_col)
    sum += widened(bias[row_of(row)]);
    if (IS_SWIGLU) further += widened(bias[row_of(row)]);
#endif
    return after_bias(sum, row, col, further);
  }

  __device__ __forceinline__ float after_bias(float x, int row, int col, float further = 0) const {
    const float y = IS_SWIGLU ? activated(x) * further : activated(x);
#if HAS_RESIDUAL
    return y + widened(residual[static_cast<long long>(row_of(row)) * ld + col_of(col)]);
#else
    return y;
#endif
  }
};

}  // namespace
#endif
