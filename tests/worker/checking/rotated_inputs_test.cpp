#include "checking/rotated_inputs.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "checking/compare_result.h"
#include "checking/reference.h"

namespace tune::rotated_inputs_test {
namespace {

constexpr std::uint64_t kSeed = 5;

Gemm small_gemm() {
  Gemm gemm;
  gemm.m = 5;
  gemm.n = 7;
  gemm.k = 6;
  gemm.batch = 2;
  gemm.lda = 9;
  gemm.layout_b = Layout::col;
  gemm.ldc = 11;
  gemm.beta = 2;
  gemm.bias = Bias::col;
  return worker::resolved(gemm);
}

worker::Content content_of(const Gemm& gemm, std::size_t buffer) {
  const Buffer b = worker::buffers_of(gemm)[buffer];
  return {b.type, worker::source_of(b.init), kSeed, buffer};
}

/// A buffer in a rotation.
std::vector<float> rotated(const Gemm& gemm, std::size_t buffer, const worker::Rotation& rotation) {
  std::vector<float> data(static_cast<std::size_t>(worker::buffers_of(gemm)[buffer].count));
  worker::fill(content_of(gemm, buffer), data.data(), worker::buffers_of(gemm)[buffer].count);
  const std::vector<float> original = data;
  const worker::RotatedView rotated = worker::rotated_view(gemm, buffer, rotation);
  worker::copy_rotated(sizeof(float), rotated, original.data(), data.data());
  return data;
}

/// What a right kernel makes of a rotation.
std::vector<float> multiplied(const Gemm& g, const worker::Rotation& rotation) {
  const auto a = rotated(g, 0, rotation), b = rotated(g, 1, rotation), bias = rotated(g, 3, rotation);
  auto c = rotated(g, 2, rotation);
  const auto at = [](const worker::MatrixView& view, std::int64_t batch, std::int64_t row, std::int64_t col) {
    return static_cast<std::size_t>(view.offset(batch, row, col));
  };
  for (std::int64_t batch = 0; batch < g.batch; ++batch)
    for (std::int64_t i = 0; i < g.m; ++i)
      for (std::int64_t j = 0; j < g.n; ++j) {
        float sum = 0;
        for (std::int64_t p = 0; p < g.k; ++p)
          sum += a[at(worker::view_a(g), batch, i, p)] * b[at(worker::view_b(g), batch, p, j)];
        float& element = c[at(worker::view_c(g), batch, i, j)];
        element = sum + static_cast<float>(g.beta) * element + bias[static_cast<std::size_t>(i)];
      }
  return c;
}

TEST(Rotation, HasTheResultThatTheReferenceSays) {
  const Gemm gemm = small_gemm();
  const auto values = worker::compute_reference(gemm, kSeed);
  const worker::GemmReference reference(gemm, values, kSeed);
  for (const worker::Rotation rotation : {worker::Rotation{}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {4, 6, 5}}) {
    const auto c = multiplied(gemm, rotation);
    EXPECT_EQ(worker::compare_gemm(gemm, c.data(), reference, worker::Poison::nan, {rotation, {}}).wrong, 0)
        << rotation.rows << " " << rotation.cols << " " << rotation.depth;
    if (rotation.rows != 0 || rotation.cols != 0) {
      EXPECT_GT(worker::compare_gemm(gemm, c.data(), reference, worker::Poison::nan).wrong, 0);
    }
  }
}

TEST(Rotation, EveryChangeOfAnInputIsFound) {
  const Gemm gemm = small_gemm();
  const worker::Rotation rotation{2, 3, 4};
  const Buffer buffer = worker::buffers_of(gemm)[0];
  auto a = rotated(gemm, 0, rotation);
  const auto damage = [&] { return worker::input_damage(gemm, 0, buffer, content_of(gemm, 0), a.data(), rotation); };
  EXPECT_EQ(damage(), std::nullopt);
  const float before = std::exchange(a[10], 42.0F);
  EXPECT_EQ(damage(), "input A was overwritten at element 10");
  a[10] = before;
  a[7] = 42;
  EXPECT_EQ(damage(), "padding of A was overwritten at element 7");
}

TEST(Rotation, IsNotForMatricesThatShareElements) {
  Gemm gemm = small_gemm();
  EXPECT_TRUE(worker::can_be_rotated(gemm));
  gemm.stride_a = 3;
  EXPECT_FALSE(worker::can_be_rotated(gemm));
  EXPECT_FALSE(worker::can_be_rotated(Custom()));
}

}  // namespace
}  // namespace tune::rotated_inputs_test
