// The tolerance must let honest kernels pass and wrong ones fail, for every type and for short and long sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checking/compare_result.h"
#include "checking/elements.h"
#include "checking/inputs.h"
#include "checking/layout.h"
#include "checking/reference.h"

namespace tune::mutants_test {
namespace {

constexpr std::int64_t kSize = 16;   // of C
constexpr std::int64_t kSlice = 16;  // of k in a step of a blocked kernel
constexpr std::uint64_t kSeed = 11;

/// Types of one kind of GEMM, on the host.
template <typename In, typename Acc, typename Out, Type kIn, Type kAcc, Type kOut>
struct Kind {
  using Input = In;
  using Accumulator = Acc;
  using Output = Out;
  static constexpr Type input = kIn, accumulator = kAcc, output = kOut;
};
using F64 = Kind<double, double, double, Type::f64, Type::f64, Type::f64>;
using F32 = Kind<float, float, float, Type::f32, Type::f32, Type::f32>;
using F32InF64 = Kind<float, double, float, Type::f32, Type::f64, Type::f32>;
using F16 = Kind<worker::Half, float, worker::Half, Type::f16, Type::f32, Type::f16>;
using F16ToF32 = Kind<worker::Half, float, float, Type::f16, Type::f32, Type::f32>;
using Bf16s = Kind<worker::Bf16, float, worker::Bf16, Type::bf16, Type::f32, Type::bf16>;
using Bf16ToF32 = Kind<worker::Bf16, float, float, Type::bf16, Type::f32, Type::f32>;
using Tf32s = Kind<worker::Tf32, float, float, Type::tf32, Type::f32, Type::f32>;
using E4m3ToBf16 = Kind<worker::E4m3, float, worker::Bf16, Type::e4m3, Type::f32, Type::bf16>;
using E5m2ToF32 = Kind<worker::E5m2, float, float, Type::e5m2, Type::f32, Type::f32>;
using S8ToF32 = Kind<std::int8_t, std::int32_t, float, Type::s8, Type::s32, Type::f32>;
using S8 = Kind<std::int8_t, std::int32_t, std::int32_t, Type::s8, Type::s32, Type::s32>;

/// One problem with its inputs, its reference, and whatever a kernel makes of it.
template <typename K>
class Mutants : public testing::Test {
 protected:
  using In = typename K::Input;
  using Acc = typename K::Accumulator;
  using Out = typename K::Output;
  using Sum = std::function<Acc(std::int64_t row, std::int64_t col)>;

  void prepare(std::int64_t k, bool fast_accum = false) {
    Gemm g;
    g.fast_accum = fast_accum;
    g.m = g.n = kSize;
    g.k = k;
    g.a = g.b = K::input;
    g.acc = K::accumulator;
    g.c = K::output;
    gemm_ = worker::resolved(g);
    a_ = input(0, kSize * k);
    b_ = input(1, kSize * k);
    reference_ = worker::compute_reference(gemm_, kSeed);
  }

  /// Widened once, because a half takes the host long to convert.
  std::vector<Acc> input(std::uint64_t buffer, std::int64_t count) const {
    std::vector<In> elements(static_cast<std::size_t>(count));
    worker::fill({gemm_.a, worker::source_of(gemm_.init), kSeed, buffer}, elements.data(), count);
    std::vector<Acc> result;
    for (const In& element : elements) result.push_back(static_cast<Acc>(worker::to_double(element)));
    return result;
  }
  Acc a(std::int64_t row, std::int64_t p) const { return a_[static_cast<std::size_t>(row * gemm_.k + p)]; }
  Acc b(std::int64_t p, std::int64_t col) const { return b_[static_cast<std::size_t>(p * kSize + col)]; }

  /// The sum over [begin, end) of k as an ordinary loop does it.
  Acc sum(std::int64_t row, std::int64_t col, std::int64_t begin, std::int64_t end) const {
    Acc total = 0;
    for (std::int64_t p = begin; p < end; ++p) total += a(row, p) * b(p, col);
    return total;
  }
  Acc reversed(std::int64_t row, std::int64_t col) const {
    Acc total = 0;
    for (std::int64_t p = gemm_.k; p-- > 0;) total += a(row, p) * b(p, col);
    return total;
  }
  Acc blocked(std::int64_t row, std::int64_t col) const {
    Acc total = 0;
    for (std::int64_t p = 0; p < gemm_.k; p += kSlice) total += sum(row, col, p, p + kSlice);
    return total;
  }
  Acc pairwise(std::int64_t row, std::int64_t col, std::int64_t begin, std::int64_t end) const {
    if (end - begin <= 2) return sum(row, col, begin, end);
    const std::int64_t middle = (begin + end) / 2;
    return pairwise(row, col, begin, middle) + pairwise(row, col, middle, end);
  }
  /// Only products of f64 are rounded in double, so that the others need no call of std::fma, which is slow.
  Acc fused(std::int64_t row, std::int64_t col) const {
    Acc total = 0;
    for (std::int64_t p = 0; p < gemm_.k; ++p) {
      const auto x = static_cast<double>(a(row, p)), y = static_cast<double>(b(p, col)), z = static_cast<double>(total);
      total = static_cast<Acc>(std::is_same_v<In, double> ? std::fma(x, y, z) : x * y + z);
    }
    return total;
  }
  /// As tensor cores do it: `step` products are added exactly, and their sum to the total with the rest cut off.
  Acc truncated(std::int64_t row, std::int64_t col, std::int64_t step) const {
    float total = 0;
    for (std::int64_t p = 0; p < gemm_.k; p += step) {
      double exact = static_cast<double>(total);
      for (std::int64_t i = p; i < p + step; ++i)
        exact += static_cast<double>(a(row, i)) * static_cast<double>(b(i, col));
      total = static_cast<float>(exact);
      if (std::fabs(static_cast<double>(total)) > std::fabs(exact)) total = std::nextafter(total, 0.0F);
    }
    return static_cast<Acc>(total);
  }
  /// As tensor cores sum fp8 products: 32 at a time and the total are added, and what is below the sum's 14 bits is cut
  /// off. Every `promoted` products, the total is added to another one in f32.
  Acc with_few_digits(std::int64_t row, std::int64_t col, std::int64_t promoted) const {
    constexpr std::int64_t kStep = 32;
    double sum = 0, total = 0;
    for (std::int64_t p = 0; p < gemm_.k; p += kStep) {
      if (p % promoted == 0) sum = static_cast<float>(sum + std::exchange(total, 0.0));
      for (std::int64_t i = p; i < p + kStep; ++i)
        total += static_cast<double>(a(row, i)) * static_cast<double>(b(i, col));
      if (total == 0) continue;
      const double unit = std::ldexp(1.0, std::ilogb(total) - 13);
      total = std::trunc(total / unit) * unit;
    }
    return static_cast<Acc>(sum + total);
  }
  /// One step of k multiplies the tile of A that the step before had loaded: a missing barrier.
  Acc with_a_stale_tile(std::int64_t row, std::int64_t col) const {
    const std::int64_t stale = gemm_.k / 2;
    Acc total = sum(row, col, 0, stale);
    for (std::int64_t p = stale; p < stale + kSlice; ++p) total += a(row, p - kSlice) * b(p, col);
    return total + sum(row, col, stale + kSlice, gemm_.k);
  }
  /// Every partial sum is rounded to the inputs' type.
  Acc summed_in_storage_type(std::int64_t row, std::int64_t col) const {
    Acc total = 0;
    for (std::int64_t p = 0; p < gemm_.k; ++p) total = narrowed<In>(total + a(row, p) * b(p, col));
    return total;
  }
  /// Inputs are rounded to a type that is shorter than theirs.
  template <typename Shorter>
  Acc from_shorter(std::int64_t row, std::int64_t col) const {
    Acc total = 0;
    for (std::int64_t p = 0; p < gemm_.k; ++p) total += narrowed<Shorter>(a(row, p)) * narrowed<Shorter>(b(p, col));
    return total;
  }
  template <typename T>
  static Acc narrowed(Acc x) {
    return static_cast<Acc>(worker::to_double(worker::rounded<T>(static_cast<double>(x))));
  }

  std::vector<Out> product(const Sum& kernel) const {
    std::vector<Out> c(kSize * kSize);
    for (std::int64_t i = 0; i < kSize * kSize; ++i)
      c[static_cast<std::size_t>(i)] = worker::rounded<Out>(static_cast<double>(kernel(i / kSize, i % kSize)));
    return c;
  }
  worker::Deviation deviation(const std::vector<Out>& c) const {
    return worker::compare_gemm(gemm_, c.data(), worker::GemmReference(gemm_, reference_, kSeed), worker::Poison::nan);
  }
  worker::Deviation deviation(const Sum& kernel) const { return deviation(product(kernel)); }

  Gemm gemm_;
  std::vector<Acc> a_, b_;
  std::vector<double> reference_;
};

using Kinds =
    testing::Types<F64, F32, F32InF64, F16, F16ToF32, Bf16s, Bf16ToF32, Tf32s, E4m3ToBf16, E5m2ToF32, S8ToF32, S8>;
TYPED_TEST_SUITE(Mutants, Kinds);

constexpr std::int64_t kDepths[] = {128, 8192, 65536};

/// Tensor cores keep so little of a sum of fp8 products that in the longest one a few terms make no difference.
template <typename K>
bool shows_few_terms(std::int64_t k) {
  return k < 65536 || worker::significand_bits<typename K::Input>() > worker::significand_bits<worker::E4m3>();
}

TYPED_TEST(Mutants, HonestKernelsPassInAnyOrderOfSummation) {
  for (const std::int64_t k : kDepths) {
    SCOPED_TRACE(k);
    this->prepare(k);
    EXPECT_EQ(this->deviation([&](auto i, auto j) { return this->sum(i, j, 0, k); }).wrong, 0) << "sequential";
    EXPECT_EQ(this->deviation([&](auto i, auto j) { return this->reversed(i, j); }).wrong, 0) << "reversed";
    EXPECT_EQ(this->deviation([&](auto i, auto j) { return this->blocked(i, j); }).wrong, 0) << "blocked";
    EXPECT_EQ(this->deviation([&](auto i, auto j) { return this->pairwise(i, j, 0, k); }).wrong, 0) << "pairwise";
    EXPECT_EQ(this->deviation([&](auto i, auto j) { return this->fused(i, j); }).wrong, 0) << "fused multiply-add";
  }
}

TYPED_TEST(Mutants, TensorCoresPass) {
  if constexpr (!std::is_integral_v<typename TypeParam::Input> &&
                worker::significand_bits<typename TypeParam::Input>() < worker::significand_bits<float>()) {
    for (const std::int64_t k : kDepths) {
      this->prepare(k);
      for (const std::int64_t step : {4, 8, 16})
        EXPECT_LT(this->deviation([&](auto i, auto j) { return this->truncated(i, j, step); }).largest_ratio, 0.9)
            << k << ", " << step << " at a time";
    }
  }
}

using Fp8Mutants = Mutants<E4m3ToBf16>;

TEST_F(Fp8Mutants, SumsOfFewDigitsFailInALongSum) {
  prepare(65536);
  EXPECT_GT(deviation([&](auto i, auto j) { return with_few_digits(i, j, 65536); }).wrong, 0);
}

TEST_F(Fp8Mutants, PromotedSumsPass) {
  for (const std::int64_t k : kDepths) {
    prepare(k);
    for (const std::int64_t promoted : {128, 256})
      EXPECT_EQ(deviation([&](auto i, auto j) { return with_few_digits(i, j, promoted); }).wrong, 0) << k;
  }
}

// The largest elements lose most. A larger C has some of five standard deviations, which lose about twice as much as
// the largest of these.
TEST_F(Fp8Mutants, SumsOfFewDigitsPassWhereTheyAreAllowed) {
  for (const std::int64_t k : {8192, 65536}) {
    prepare(k, true);
    EXPECT_LT(deviation([&](auto i, auto j) { return with_few_digits(i, j, k); }).largest_ratio, 0.4) << k;
  }
}

// In the longest sum, only an eighth of it shows.
TEST_F(Fp8Mutants, WrongSumsFailWhereFewDigitsAreAllowed) {
  for (const std::int64_t k : {128, 8192}) {
    prepare(k, true);
    EXPECT_GT(deviation([&](auto i, auto j) { return sum(i, j, 0, k - kSlice); }).wrong, 0) << k;
    EXPECT_GT(deviation([&](auto i, auto j) { return with_a_stale_tile(i, j); }).wrong, 0) << k;
  }
  prepare(65536, true);
  EXPECT_GT(deviation([&](auto i, auto j) { return sum(i, j, 0, 65536 / 8 * 7); }).wrong, 0);
}

TYPED_TEST(Mutants, TheLastSliceOfKDroppedFails) {
  for (const std::int64_t k : kDepths) {
    if (!shows_few_terms<TypeParam>(k)) continue;
    this->prepare(k);
    const auto mutant = this->deviation([&](auto i, auto j) { return this->sum(i, j, 0, k - kSlice); });
    EXPECT_GT(mutant.wrong, kSize * kSize / 2) << k;
  }
}

TYPED_TEST(Mutants, TheVeryLastTermDroppedFails) {
  for (const std::int64_t k : kDepths) {
    if (!shows_few_terms<TypeParam>(k)) continue;
    this->prepare(k);
    EXPECT_GT(this->deviation([&](auto i, auto j) { return this->sum(i, j, 0, k - 1); }).wrong, 0) << k;
  }
}

TYPED_TEST(Mutants, TwoColumnsSwappedFail) {
  for (const std::int64_t k : kDepths) {
    this->prepare(k);
    const auto swapped = [](std::int64_t j) { return j == 3 ? 4 : j == 4 ? 3 : j; };
    const auto mutant = this->deviation([&](auto i, auto j) { return this->sum(i, swapped(j), 0, k); });
    EXPECT_GT(mutant.wrong, kSize) << k;
    EXPECT_EQ(mutant.low.col, 3) << k;
    EXPECT_EQ(mutant.high.col, 4) << k;
  }
}

TYPED_TEST(Mutants, OneStaleTileFails) {
  for (const std::int64_t k : kDepths) {
    if (!shows_few_terms<TypeParam>(k)) continue;
    this->prepare(k);
    const auto mutant = this->deviation([&](auto i, auto j) { return this->with_a_stale_tile(i, j); });
    EXPECT_GT(mutant.wrong, kSize * kSize / 2) << k;
  }
}

TYPED_TEST(Mutants, OneWrongElementFails) {
  for (const std::int64_t k : kDepths) {
    this->prepare(k);
    auto c = this->product([&](auto i, auto j) { return this->sum(i, j, 0, k); });
    c[5 * kSize + 7] = c[5 * kSize + 6];
    const auto mutant = this->deviation(c);
    EXPECT_EQ(mutant.wrong, 1) << k;
    EXPECT_EQ(mutant.first.col, 7) << k;
  }
}

TYPED_TEST(Mutants, AccumulationInTheStorageTypeFailsWhereItIsNotDeclared) {
  if constexpr (worker::significand_bits<typename TypeParam::Input>() <
                worker::significand_bits<typename TypeParam::Accumulator>()) {
    for (const std::int64_t k : kDepths) {
      this->prepare(k);
      EXPECT_GT(this->deviation([&](auto i, auto j) { return this->summed_in_storage_type(i, j); }).wrong, 0) << k;
    }
  }
}

// Tensor cores read f32 as tf32, and f64 is easily lost to a literal of type float.
TYPED_TEST(Mutants, InputsRoundedToAShorterTypeFail) {
  using Shorter = std::conditional_t<std::is_same_v<typename TypeParam::Input, double>, float, worker::Tf32>;
  if constexpr (worker::significand_bits<typename TypeParam::Input>() > worker::significand_bits<Shorter>()) {
    for (const std::int64_t k : kDepths) {
      this->prepare(k);
      EXPECT_GT(this->deviation([&](auto i, auto j) { return this->template from_shorter<Shorter>(i, j); }).wrong, 0)
          << k;
    }
  }
}

}  // namespace
}  // namespace tune::mutants_test
