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

/// The numbers of a GEMM's buffers; that of the residual, if there is one, depends on whether there is a bias.
inline constexpr std::size_t kNumberOfA = 0, kNumberOfB = 1, kNumberOfC = 2, kNumberOfBias = 3;
inline std::size_t number_of_residual(const Gemm& gemm) { return gemm.bias == Bias::none ? 3 : 4; }

/// The buffers of a problem, in the order of their numbers: A, B, C, maybe bias and maybe residual of a GEMM, or those
/// that are declared.
std::vector<Buffer> buffers_of(const Problem& problem);

}  // namespace tune::worker
