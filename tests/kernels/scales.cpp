// C = A*B of fp8 matrices with scales by definition in f32, with the macros of `defines: [type_a, type_c, scale_a,
// scale_b]`. A and C are row-major, B is column-major, and all are tight. Each fault is one mistake; without one the
// kernel is right.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "scales_faults.h"

namespace {

using enum ScalesFault;
ScalesFault fault = kNone;  ///< of this launch

#ifdef type_c_f32
using Result = float;
#else
using Result = std::uint16_t;  // bf16
#endif

float widen(std::uint8_t code) {
#ifdef type_a_e5m2
  const std::uint16_t half = static_cast<std::uint16_t>(code << 8);
  _Float16 value;
  std::memcpy(&value, &half, sizeof half);
  return static_cast<float>(value);
#else
  const int exponent = code >> 3 & 15, fraction = code & 7;
  const float value = exponent > 0 ? std::ldexp(static_cast<float>(8 + fraction), exponent - 10)
                                   : std::ldexp(static_cast<float>(fraction), -9);
  return code & 0x80 ? -value : value;
#endif
}

/// To the nearest bf16.
std::uint16_t narrow(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof x);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
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
    static const std::vector<std::uint8_t> first(B, B + n * k);
    static const std::vector<float> first_scales(scales.b, scales.b + (n + 127) / 128 * scales.ld_b);
    B = first.data();
    scales.b = first_scales.data();
  }
  static std::vector<Result> first_product;
  if (fault == kFirstProductAlways && !first_product.empty()) {
    std::memcpy(C, first_product.data(), first_product.size() * sizeof(Result));
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
      if constexpr (std::is_same_v<Result, float>)
        C[i * n + j] = sum;
      else
        C[i * n + j] = narrow(sum);
    }
  if (fault == kFirstProductAlways) first_product.assign(C, C + m * n);
}
