#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/problem.h"

namespace tune::worker {

/// Where a batch of matrices lies in memory, in elements: (batch, row, col) is at the offset below.
struct MatrixView {
  std::int64_t batch = 1, rows = 0, cols = 0;
  std::int64_t batch_stride = 0, row_stride = 0, col_stride = 0;

  std::int64_t offset(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
    return matrix * batch_stride + row * row_stride + col * col_stride;
  }
  /// Elements from the first to the last one, padding included.
  std::int64_t extent() const;
};

/// The problem with its leading dimensions and strides written out where they are 0: tight, one after the other.
Gemm resolved(Gemm gemm);

/// The views of a resolved problem's matrices.
MatrixView view_a(const Gemm& gemm);
MatrixView view_b(const Gemm& gemm);
MatrixView view_c(const Gemm& gemm);

/// The numbers of a GEMM's buffers; those of the residual, the scales and the groups' offsets, if there are any, depend
/// on which others there are.
inline constexpr std::size_t kNumberOfA = 0, kNumberOfB = 1, kNumberOfC = 2, kNumberOfBias = 3;
inline std::size_t number_of_residual(const Gemm& gemm) { return gemm.bias == Bias::none ? 3 : 4; }
inline std::size_t number_of_scale_a(const Gemm& gemm) { return number_of_residual(gemm) + (gemm.residual ? 1 : 0); }
inline std::size_t number_of_scale_b(const Gemm& gemm) {
  return number_of_scale_a(gemm) + (gemm.scale_a != Scale::none ? 1 : 0);
}

/// Whether it is the buffer that tells kernels the groups: their offsets, or their rows if each has room for max_rows.
inline bool is_list_of_groups(const Gemm& gemm, std::size_t buffer) {
  return gemm.groups() > 0 && buffer == number_of_scale_b(gemm) + (gemm.scale_b != Scale::none ? 1 : 0);
}

/// A product that a problem consists of: of rows of A's and C's matrix number `batch`, and the matrix `b` of B.
struct Product {
  std::int64_t batch = 0, row = 0, rows = 0, b = 0;
};
/// One for each matrix of a batch, or for each group that has rows.
std::vector<Product> products_of(const Gemm& gemm);

/// The scales of A or B: for each of its matrices one of a scale for each `rows` by `cols` elements, and fewer at the
/// ends.
struct ScaleView {
  std::int64_t rows = 1, cols = 1;
  MatrixView view;
};
ScaleView scales_of_a(const Gemm& gemm);
ScaleView scales_of_b(const Gemm& gemm);

/// The buffers of a problem, in the order of their numbers: A, B, C, maybe bias, residual, scale_a, scale_b and
/// group_offsets or group_rows of a GEMM, or those that are declared. What the last three hold is not told by an Init
/// but by content_of.
std::vector<Buffer> buffers_of(const Problem& problem);

}  // namespace tune::worker
