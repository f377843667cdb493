#pragma once
#include <cstdint>

namespace tune::worker {

/// A matrix of doubles with any strides, in elements.
struct DoubleMatrix {
  const double* data = nullptr;
  std::int64_t row_stride = 0, col_stride = 0;
  double at(std::int64_t row, std::int64_t col) const { return data[row * row_stride + col * col_stride]; }
};

/// product[m,n] (row-major, tight) = a[m,k] * b[k,n] in double precision on all cores; the reference's own kernel,
/// packed and blocked. Its rounding errors are those of blocks of 256 terms.
void multiply(const DoubleMatrix& a, const DoubleMatrix& b, std::int64_t m, std::int64_t n, std::int64_t k,
              double* product);

}  // namespace tune::worker
