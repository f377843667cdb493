#include "checking/compare_result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "checking/reference.h"

namespace tune::compare_result_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A small GEMM and the right answer, in C's own layout.
struct Case {
  Gemm gemm;
  std::vector<double> reference;
  std::vector<float> c;

  explicit Case(Gemm g) : gemm(worker::resolved(g)), reference(worker::compute_reference(gemm, 3)) {
    c.resize(static_cast<std::size_t>(worker::view_c(gemm).extent()));
    worker::poison(std::as_writable_bytes(std::span(c)), worker::Poison::nan);
    const auto right = worker::GemmReference(gemm, reference, 3).x;
    for (std::int64_t i = 0; i < gemm.batch * gemm.m * gemm.n; ++i)
      at(i / (gemm.m * gemm.n), i / gemm.n % gemm.m, i % gemm.n) =
          static_cast<float>(right[static_cast<std::size_t>(i)]);
  }
  float& at(std::int64_t batch, std::int64_t row, std::int64_t col) {
    return c[static_cast<std::size_t>(worker::view_c(gemm).offset(batch, row, col))];
  }
  worker::Deviation compare() const {
    return worker::compare_gemm(gemm, c.data(), worker::GemmReference(gemm, reference, 3), worker::Poison::nan);
  }
};

Gemm small_gemm() {
  Gemm gemm;
  gemm.m = 20;
  gemm.n = 30;
  gemm.k = 40;
  return gemm;
}

TEST(Check, ARightResultPasses) {
  const worker::Deviation deviation = Case(small_gemm()).compare();
  EXPECT_EQ(deviation.elements, 600);
  EXPECT_EQ(deviation.wrong, 0);
  EXPECT_LE(deviation.largest_ratio, 1);
}

TEST(Check, ANaNIsWrong) {
  Case wrong(small_gemm());
  wrong.at(0, 2, 3) = static_cast<float>(kNaN);
  const worker::Deviation deviation = wrong.compare();
  EXPECT_EQ(deviation.wrong, 1);
  EXPECT_EQ(deviation.nans, 1);
  EXPECT_EQ(deviation.unwritten, 0);
  EXPECT_TRUE(std::isinf(deviation.largest_ratio));
}

TEST(Check, AllNaNIsAllWrong) {
  Case wrong(small_gemm());
  std::fill(wrong.c.begin(), wrong.c.end(), static_cast<float>(kNaN));
  EXPECT_EQ(wrong.compare().wrong, 600);
}

TEST(Check, AnInfinityIsWrong) {
  Case wrong(small_gemm());
  wrong.at(0, 2, 3) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(wrong.compare().wrong, 1);
}

TEST(Check, UnwrittenElementsAreCounted) {
  Case wrong(small_gemm());
  worker::poison(std::as_writable_bytes(std::span(wrong.c).subspan(590, 10)), worker::Poison::nan);
  EXPECT_EQ(wrong.compare().unwritten, 10);
  EXPECT_EQ(worker::describe(wrong.compare(), "C"),
            "C was not fully written\n10 of 600 elements are wrong (1.67 %), 10 never written, or only added to, first "
            "at row "
            "19, column 20, all within row 19, columns 20-29");
}

TEST(Check, SaysHowManyHowFarAndWhere) {
  Gemm gemm = small_gemm();
  gemm.batch = 3;
  gemm.layout_c = Layout::col;
  Case wrong(gemm);
  wrong.at(1, 4, 9) = wrong.at(2, 3, 7) = 1000;
  const worker::Deviation deviation = wrong.compare();
  EXPECT_EQ(deviation.wrong, 2);
  EXPECT_NEAR(deviation.largest_error, 1000, 50);
  const std::string text = worker::describe(deviation, "C");
  EXPECT_EQ(text.substr(0, text.find('\n')), "wrong result in C");
  EXPECT_NE(text.find("first at row 4, column 9, matrix 1: 1000 instead of "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(", all within rows 3-4, columns 7-9, matrices 1-2")) << text;
}

TEST(Check, AnElementOfAListHasOneNumber) {
  const Buffer buffer{.name = "y", .type = Type::f32, .count = 6};
  const std::vector<double> expected = {1, 2, 3, 4, 5, 6};
  const std::vector<float> computed = {1, 2, 9, 4, 9, 6};
  const worker::Deviation wrong = worker::compare_custom({}, buffer, computed.data(), expected, worker::Poison::nan);
  EXPECT_TRUE(worker::describe(wrong, "y").ends_with("first at element 2: 9 instead of 3, all within elements 2-4"))
      << worker::describe(wrong, "y");
}

TEST(Check, PaddingBetweenRowsAndMatricesMustStayAsItWas) {
  Gemm gemm = small_gemm();
  gemm.batch = 2;
  gemm.ldc = 32;
  gemm.stride_c = 32 * 20 + 7;
  Case kernel(gemm);
  const auto damage = [&kernel] {
    return worker::padding_damage("C", Type::f32, kernel.c.data(), worker::view_c(kernel.gemm), {}, std::nullopt,
                                  worker::Poison::nan);
  };
  EXPECT_EQ(damage(), std::nullopt);
  kernel.c[32 * 20 + 3] = 0;
  EXPECT_EQ(damage(), "padding of C was overwritten at element 643");
  kernel.c[31] = 0;
  EXPECT_EQ(damage(), "padding of C was overwritten at element 31");
}

TEST(Check, PaddingOfAnUpdatedMatrixMustKeepItsContent) {
  Gemm gemm = small_gemm();
  gemm.ldc = 32;
  const worker::MatrixView view = worker::view_c(worker::resolved(gemm));
  const worker::Content content{Type::f32, generator::Source::uniform, 1, 2};
  std::vector<float> c(static_cast<std::size_t>(view.extent()));
  worker::fill(content, c.data(), view.extent());
  c[0] = 5;
  EXPECT_EQ(worker::padding_damage("C", Type::f32, c.data(), view, {}, content, worker::Poison::nan), std::nullopt);
  c[30] = 5;
  EXPECT_EQ(worker::padding_damage("C", Type::f32, c.data(), view, {}, content, worker::Poison::nan),
            "padding of C was overwritten at element 30");
}

TEST(Check, InterleavedMatricesHaveNoPadding) {
  Gemm gemm = small_gemm();
  gemm.batch = 2;
  gemm.ldc = 60;
  gemm.stride_c = 30;
  Case kernel(gemm);
  EXPECT_EQ(kernel.compare().wrong, 0);
  EXPECT_EQ(worker::padding_damage("C", Type::f32, kernel.c.data(), worker::view_c(kernel.gemm), {}, std::nullopt,
                                   worker::Poison::nan),
            std::nullopt);
}

}  // namespace
}  // namespace tune::compare_result_test
