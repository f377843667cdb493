#include "checking/multiply.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "checking/parallel.h"

// The best the machine has, chosen when the worker starts: it must run on older machines than it was built on.
#if defined(__x86_64__)
#define TUNE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TUNE_CLONES
#endif

namespace tune::worker {
namespace {

constexpr std::int64_t kRows = 4, kCols = 8;           // of C in registers
constexpr std::int64_t kDepth = 256, kBlockRows = 64;  // of A in the second-level cache
using Vector [[gnu::vector_size(kCols * sizeof(double))]] = double;

/// `tile` = sliver of A (depth x kRows) * sliver of B (depth x kCols).
TUNE_CLONES void multiply_tile(const double* a, const double* b, std::int64_t depth, double* tile) {
  Vector sum[kRows] = {};
  for (std::int64_t p = 0; p < depth; ++p, a += kRows, b += kCols) {
    Vector row;
    std::memcpy(&row, b, sizeof row);
    for (std::int64_t i = 0; i < kRows; ++i) sum[i] += a[i] * row;
  }
  std::memcpy(tile, sum, sizeof sum);
}

std::int64_t slivers(std::int64_t count, std::int64_t width) { return (count + width - 1) / width; }

/// B as slivers of k x kCols, the last one filled up with zeros.
std::vector<double> pack_b(const DoubleMatrix& b, std::int64_t n, std::int64_t k) {
  std::vector<double> packed(static_cast<std::size_t>(slivers(n, kCols) * k * kCols));
  parallel_for(slivers(n, kCols), 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s)
      for (std::int64_t p = 0; p < k; ++p)
        for (std::int64_t j = 0; j < std::min(kCols, n - s * kCols); ++j)
          packed[static_cast<std::size_t>((s * k + p) * kCols + j)] = b.at(p, s * kCols + j);
  });
  return packed;
}

/// One block of A as slivers of depth x kRows, the last one filled up with zeros.
void pack_a(const DoubleMatrix& a, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t depth,
            std::vector<double>& packed) {
  std::fill(packed.begin(), packed.end(), 0.0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t p = 0; p < depth; ++p)
      packed[static_cast<std::size_t>((i / kRows * depth + p) * kRows + i % kRows)] = a.at(row + i, col + p);
}

void add_tile(const double* tile, double* to, std::int64_t ld, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) to[i * ld + j] += tile[i * kCols + j];
}

/// C (rows x n) += packed block of A * the same depth of packed B.
void multiply_block(const double* a, const double* b, std::int64_t b_depth, std::int64_t depth, double* c,
                    std::int64_t rows, std::int64_t n) {
  double tile[kRows * kCols];
  for (std::int64_t j = 0; j < n; j += kCols)
    for (std::int64_t i = 0; i < rows; i += kRows) {
      multiply_tile(a + i * depth, b + j * b_depth, depth, tile);
      add_tile(tile, c + i * n + j, n, std::min(kRows, rows - i), std::min(kCols, n - j));
    }
}

}  // namespace

void multiply(const DoubleMatrix& a, const DoubleMatrix& b, std::int64_t m, std::int64_t n, std::int64_t k,
              double* product) {
  const std::vector<double> packed_b = pack_b(b, n, k);
  std::fill(product, product + m * n, 0.0);
  parallel_for(slivers(m, kBlockRows), 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> packed_a(static_cast<std::size_t>(kBlockRows * kDepth));
    for (std::int64_t row = begin * kBlockRows; row < std::min(m, end * kBlockRows); row += kBlockRows)
      for (std::int64_t p = 0; p < k; p += kDepth) {
        const std::int64_t rows = std::min(kBlockRows, m - row), depth = std::min(kDepth, k - p);
        pack_a(a, row, rows, p, depth, packed_a);
        multiply_block(packed_a.data(), packed_b.data() + p * kCols, k, depth, product + row * n, rows, n);
      }
  });
}

}  // namespace tune::worker
