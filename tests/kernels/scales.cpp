// C = A*B of fp8 matrices with scales by definition in f32, with the macros of `defines: [type_a, type_c, scale_a,
// scale_b]`. A and C are row-major, B is column-major, and all are tight. Each fault is one mistake; without one the
// kernel is right. It is compiled often, and <cmath> and <vector> would take most of the compiler's time.
#include <cstdint>
#include <cstring>

#include "scales_faults.h"

namespace {

using enum ScalesFault;
ScalesFault fault = kNone;  ///< of this launch

float widen(std::uint8_t code) {
#ifdef type_a_e5m2
  const std::uint16_t half = static_cast<std::uint16_t>(code << 8);
  _Float16 value;
  std::memcpy(&value, &half, sizeof half);
  return static_cast<float>(value);
#else
  const int exponent = code >> 3 & 15, fraction = code & 7;
  const float value = exponent > 0 ? __builtin_ldexpf(static_cast<float>(8 + fraction), exponent - 10)
                                   : __builtin_ldexpf(static_cast<float>(fraction), -9);
  return code & 0x80 ? -value : value;
#endif
}

/// To the nearest bf16.
std::uint16_t narrow(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof x);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#ifdef type_c_f32
using Result = float;
Result stored(float x) { return x; }
#else
using Result = std::uint16_t;
Result stored(float x) { return narrow(x); }
#endif

/// What is kept for good.
template <class T>
const T* copied(const T* values, int count) {
  T* const copy = new T[static_cast<std::size_t>(count)];
  std::memcpy(copy, values, static_cast<std::size_t>(count) * sizeof(T));
  return copy;
}

float rounded(float x) {
  const std::uint32_t bits = std::uint32_t{narrow(x)} << 16;
  float result;
  std::memcpy(&result, &bits, sizeof bits);
  return result;
}

struct Scales {
  const float *a, *b;
  int m, n, k, ld_a, ld_b;

  float of_a(int row, int p) const {
    if (fault == kNoScaleOfA || (fault == kLastBlockOfKUnscaled && p >= k / 128 * 128)) return 1;
    if (fault == kNextRow) row = (row + 1) % m;
    if (fault == kNextBlock) p = p + 128 < k ? p + 128 : 0;
    if (fault == kFirstBlockAlways) p = 0;
#if defined(scale_a_tensor)
    const float scale = *a;
#elif defined(scale_a_row)
    const float scale = a[row];
#elif defined(scale_a_1x128)
    const float scale = fault == kOtherOrderOfA ? a[row * ((k + 127) / 128) + p / 128] : a[p / 128 * ld_a + row];
#elif defined(scale_a_128x128)
    const float scale = a[row / 128 * ld_a + p / 128];
#else
    const float scale = 1;
#endif
    return fault == kDivided ? 1 / scale : scale;
  }
  float of_b(int p, int col) const {
    if (fault == kNoScaleOfB) return 1;
    if (fault == kNextColumn) col = (col + 1) % n;
    if (fault == kOneScaleOfBInATile) col = col / 192 * 192;
    if (fault == kLastColumnsLikeThoseBefore && col >= n / 128 * 128) col -= 128;
#if defined(scale_b_tensor)
    return *b;
#elif defined(scale_b_col)
    return b[col];
#elif defined(scale_b_1x128)
    return b[p / 128 * ld_b + col];
#elif defined(scale_b_128x128)
    return b[col / 128 * (fault == kUnpaddedB ? (k + 127) / 128 : ld_b) + p / 128];
#else
    return 1;
#endif
  }
  float of(int row, int col, int p) const {
    return fault == kExchanged ? of_a(col % m, p) * of_b(p, row % n) : of_a(row, p) * of_b(p, col);
  }
};

}  // namespace

extern "C" void gemm(const std::uint8_t* A, const std::uint8_t* B, Result* C, int m, int n, int k, int number_of_fault
#if defined(scale_a_tensor) || defined(scale_a_row) || defined(scale_a_1x128) || defined(scale_a_128x128)
                     ,
                     const float* scale_a, int ld_scale_a
#endif
#if defined(scale_b_tensor) || defined(scale_b_col) || defined(scale_b_1x128) || defined(scale_b_128x128)
                     ,
                     const float* scale_b, int ld_scale_b
#endif
) {
  fault = ScalesFault{number_of_fault};
  Scales scales = {nullptr, nullptr, m, n, k, 0, 0};
#if defined(scale_a_tensor) || defined(scale_a_row) || defined(scale_a_1x128) || defined(scale_a_128x128)
  scales.a = scale_a;
  scales.ld_a = ld_scale_a;
#endif
#if defined(scale_b_tensor) || defined(scale_b_col) || defined(scale_b_1x128) || defined(scale_b_128x128)
  scales.b = scale_b;
  scales.ld_b = ld_scale_b;
#endif
  if (fault == kFirstBAlways) {  // in 128x128 blocks
    static const std::uint8_t* const first = copied(B, n * k);
    static const float* const first_scales = copied(scales.b, (n + 127) / 128 * scales.ld_b);
    B = first;
    scales.b = first_scales;
  }
  static const Result* first_product = nullptr;
  if (fault == kFirstProductAlways && first_product) {
    std::memcpy(C, first_product, static_cast<std::size_t>(m * n) * sizeof(Result));
    return;
  }
  float widened[256];
  for (int code = 0; code < 256; ++code) widened[code] = widen(static_cast<std::uint8_t>(code));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int begin = 0; begin < k; begin += 128) {
        float part = 0;
        for (int p = begin; p < k && p < begin + 128; ++p) part += widened[A[i * k + p]] * widened[B[j * k + p]];
        sum += scales.of(i, j, begin) * (fault == kRoundedBefore ? rounded(part) : part);
      }
      C[i * n + j] = stored(sum);
    }
  if (fault == kFirstProductAlways) first_product = copied(C, m * n);
}
