// Elements of fp8 matrices times their scales, for kernels on CPUs and GPUs. The macros are those of `defines: [type_a,
// type_b, scale_a, scale_b]` in a tuning file (docs/tuning-file.md, GEMM problems).
//
//   type_a_e4m3, type_a_e5m2, likewise of b    formats
//   scale_a_tensor, scale_b_tensor             which elements share a scale: all of them,
//   scale_a_row, scale_b_col                   those of a line, which is a row of A or a column of B,
//   scale_a_1x128, scale_b_1x128               128 of k in one line,
//   scale_a_128x128, scale_b_128x128           or 128 of k in 128 lines
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
#define SCALING __device__ __forceinline__
#else
#define SCALING inline
#endif

namespace {

enum class Shared { by_all, by_line, by_128, by_128x128 };

#if defined(scale_a_tensor)
constexpr Shared kScalesOfA = Shared::by_all;
#elif defined(scale_a_row)
constexpr Shared kScalesOfA = Shared::by_line;
#elif defined(scale_a_1x128)
constexpr Shared kScalesOfA = Shared::by_128;
#elif defined(scale_a_128x128)
constexpr Shared kScalesOfA = Shared::by_128x128;
#else
#error "needs -D of one of scale_a_tensor scale_a_row scale_a_1x128 scale_a_128x128"
#endif
#if defined(scale_b_tensor)
constexpr Shared kScalesOfB = Shared::by_all;
#elif defined(scale_b_col)
constexpr Shared kScalesOfB = Shared::by_line;
#elif defined(scale_b_1x128)
constexpr Shared kScalesOfB = Shared::by_128;
#elif defined(scale_b_128x128)
constexpr Shared kScalesOfB = Shared::by_128x128;
#else
#error "needs -D of one of scale_b_tensor scale_b_col scale_b_1x128 scale_b_128x128"
#endif
#ifdef type_a_e5m2
constexpr int kFractionOfA = 2;
#else
constexpr int kFractionOfA = 3;
#endif
#ifdef type_b_e5m2
constexpr int kFractionOfB = 2;
#else
constexpr int kFractionOfB = 3;
#endif

/// A matrix of lines of k elements, which are neighbours in memory, with kFraction bits behind the point.
template <Shared kShared, int kFraction>
struct ScaledMatrix {
  const unsigned char* data;
  int lines, k;
  const float* scales;
  int ld;  ///< scales from one run of neighbours to the next

  /// What the bits of the elements [p, p + 4) of a line are to be multiplied by, for p a multiple of 4: their scale,
  /// and what the exponent's bias differs by from that of a float.
  SCALING float factor(int line, int p) const {
    constexpr float kBias = kFraction == 3 ? 0x1p120F : 0x1p112F;
    if (kShared == Shared::by_all) return kBias * scales[0];
    if (kShared == Shared::by_line) return kBias * scales[line];
    const long long block = p / 128;
    return kBias * (kShared == Shared::by_128 ? scales[block * ld + line] : scales[line / 128LL * ld + block]);
  }
  /// An element's bits as those of a float, which for a small element is subnormal.
  SCALING static float unscaled(unsigned code) {
    const unsigned bits = (code & 0x80U) << 24 | (code & 0x7fU) << (23 - kFraction);
    return __builtin_bit_cast(float, bits);
  }
};

using ScaledA = ScaledMatrix<kScalesOfA, kFractionOfA>;
using ScaledB = ScaledMatrix<kScalesOfB, kFractionOfB>;

#ifdef type_c_f32
using Result = float;
SCALING float result(float sum) { return sum; }
#else
using Result = unsigned short;
/// The bits of the nearest bf16.
SCALING unsigned short result(float sum) {
  const unsigned bits = __builtin_bit_cast(unsigned, sum);
  return static_cast<unsigned short>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
#endif

}  // namespace
