// What the products of gemm_grouped.cu and gemm_grouped.cpp read and write: elements times their scales, and groups of
// rows. The macros are those of `defines: [type_a, type_b, type_c, scale_a, scale_b, groups]` in a tuning file
// (docs/tuning-file.md, GEMM problems).
//
//   type_a_f32, type_a_bf16                    without scales: formats of A and B
//   type_a_e4m3, type_a_e5m2, likewise of b    with scales: formats
//   scale_a_tensor, scale_b_tensor             which elements share a scale: all of them,
//   scale_a_row, scale_b_col                   those of a line, which is a row of A or a column of B,
//   scale_a_1x128, scale_b_1x128               128 of k in one line,
//   scale_a_128x128, scale_b_128x128           or 128 of k in 128 lines
//   groups_contiguous, groups_masked           groups of rows, one behind the other or with room for max_rows each
//   type_c_f32, type_c_bf16                    format of C
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)
#define ON_DEVICE __device__ __forceinline__
#else
#define ON_DEVICE inline
#endif

namespace {

#if defined(scale_a_tensor) || defined(scale_a_row) || defined(scale_a_1x128) || defined(scale_a_128x128)
#define HAS_SCALES 1
enum class Shared { by_all, by_line, by_128, by_128x128 };

#if defined(scale_a_tensor)
constexpr Shared kScalesOfA = Shared::by_all;
#elif defined(scale_a_row)
constexpr Shared kScalesOfA = Shared::by_line;
#elif defined(scale_a_1x128)
constexpr Shared kScalesOfA = Shared::by_128;
#else
constexpr Shared kScalesOfA = Shared::by_128x128;
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
#error "with a scale_a it needs -D of one of scale_b_tensor scale_b_col scale_b_1x128 scale_b_128x128"
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

using Element = unsigned char;

/// A matrix of lines of k elements, which are neighbours in memory, with kFraction bits behind the point.
template <Shared kShared, int kFraction>
struct Operand {
  const Element* data;
  int k;
  const float* scales;
  int ld;  ///< scales from one run of neighbours to the next

  /// What the bits of the elements [p, p + 4) of a line are to be multiplied by, for p a multiple of 4: their scale,
  /// and what the exponent's bias differs by from that of a float.
  ON_DEVICE float factor(int line, int p) const {
    constexpr float kBias = kFraction == 3 ? 0x1p120F : 0x1p112F;
    if (kShared == Shared::by_all) return kBias * scales[0];
    if (kShared == Shared::by_line) return kBias * scales[line];
    const long long block = p / 128;
    return kBias * (kShared == Shared::by_128 ? scales[block * ld + line] : scales[line / 128LL * ld + block]);
  }
  /// An element's bits as those of a float, which for a small element is subnormal.
  ON_DEVICE static float unscaled(Element code) {
    const unsigned bits = (code & 0x80U) << 24 | (code & 0x7fU) << (23 - kFraction);
    return __builtin_bit_cast(float, bits);
  }
  /// The matrix with this number of several that have so many lines each.
  ON_DEVICE Operand of(int number, int lines) const {
    const long long own = kShared == Shared::by_all    ? 1
                          : kShared == Shared::by_line ? lines
                          : kShared == Shared::by_128  ? (k + 127LL) / 128 * ld
                                                       : (lines + 127LL) / 128 * ld;
    return {data + static_cast<long long>(number) * lines * k, k, scales + number * own, ld};
  }
};

using OperandA = Operand<kScalesOfA, kFractionOfA>;
using OperandB = Operand<kScalesOfB, kFractionOfB>;
#else
#define HAS_SCALES 0
#ifdef type_a_f32
using Element = float;
#else
using Element = unsigned short;  // bits of a bf16
#endif

struct Operand {
  const Element* data;
  int k;

  ON_DEVICE static float factor(int, int) { return 1; }
  ON_DEVICE static float unscaled(float element) { return element; }
  ON_DEVICE static float unscaled(unsigned short bits) {
    return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
  }
  ON_DEVICE Operand of(int number, int lines) const { return {data + static_cast<long long>(number) * lines * k, k}; }
};
using OperandA = Operand;
using OperandB = Operand;
#endif

/// The groups of rows of A and C; without any, all m rows are one.
struct Groups {
  const int* list;  ///< group_offsets, or group_rows
  int count, max_rows, m;

  ON_DEVICE int first(int group) const {
#if defined(groups_contiguous)
    return list[group];
#else
    return group * max_rows;
#endif
  }
  ON_DEVICE int rows(int group) const {
#if defined(groups_contiguous)
    return list[group + 1] - list[group];
#elif defined(groups_masked)
    return list[group];
#else
    return group == 0 ? m : 0;
#endif
  }
};
#if defined(groups_contiguous) || defined(groups_masked)
#define HAS_GROUPS 1
#else
#define HAS_GROUPS 0
#endif

#ifdef type_c_f32
using Result = float;
ON_DEVICE float result(float sum) { return sum; }
#else
using Result = unsigned short;
/// The bits of the nearest bf16.
ON_DEVICE unsigned short result(float sum) {
  const unsigned bits = __builtin_bit_cast(unsigned, sum);
  return static_cast<unsigned short>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
#endif

}  // namespace
