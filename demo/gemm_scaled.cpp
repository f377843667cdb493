// C = A * B of fp8 matrices with scales, on CPUs. A is row-major, B column-major, C row-major and bf16 or f32, and all
// are tight. scales.h says which scales there are.
//
// A thread computes a tile of C at a time, MC x NC, in memory of its own: slices of A and B, KC wide, are packed as
// floats that are multiplied by their scales already, and a part of the tile (MR x NR) stays in registers while k runs
// through a slice.
//
//   MR, NR       part in registers: MR*NR/VL sums, NR/VL vectors of B and one value of A have to fit
//   MC, NC, KC   tile and slice: MC*NC + KC*(MC + NC) floats want the L2 cache; multiples of MR, NR and 4
//   VL           floats in a vector
//   threads      run-time argument: threads that share the tiles

#include <omp.h>

#include <cstring>

#include "scales.h"

#if !defined(MR) || !defined(NR) || !defined(MC) || !defined(NC) || !defined(KC) || !defined(VL)
#error "needs -D of MR NR MC NC KC VL, for example 6 16 48 128 512 8, and of scales; see the head of the file"
#endif
#include "packed_tile.h"

namespace {

static_assert(KC % 4 == 0, "elements of a slice's line share a scale in fours");

/// Lines from `first` on, as slivers of kWidth lines each, one step of k behind the other, with zeros at their edges.
template <int kWidth, typename Matrix>
void pack(const Matrix& matrix, Index first, Index count, Index p, Index kc, float* to) {
  for (Index sliver = 0; sliver < count; sliver += kWidth, to += kWidth * kc)
    for (Index i = 0; i < kWidth; ++i) {
      const Index line = first + sliver + i;
      const bool inside = line < matrix.lines;
      const unsigned char* const from = matrix.data + line * matrix.k + p;
      for (Index q = 0; q < kc; q += 4) {
        const float factor = inside ? matrix.factor(static_cast<int>(line), static_cast<int>(p + q)) : 0;
        for (Index j = q; j < min(q + 4, kc); ++j) to[j * kWidth + i] = inside ? factor * Matrix::unscaled(from[j]) : 0;
      }
    }
}

void compute_tile(const ScaledA& a, const ScaledB& b, Index row, Index col, Workplace& place, Result* c) {
  const Index rows = min(MC, a.lines - row), cols = min(NC, b.lines - col);
  std::memset(place.sums.data(), 0, place.sums.size() * sizeof(float));
  for (Index p = 0; p < a.k; p += KC) {
    const Index kc = min(KC, a.k - p);
    pack<MR>(a, row, rows, p, kc, place.a.data());
    pack<NR>(b, col, cols, p, kc, place.b.data());
    for (Index j = 0; j < cols; j += NR)
      for (Index i = 0; i < rows; i += MR)
        multiply(place.a.data() + i * kc, place.b.data() + j * kc, kc, place.sums.data() + i * NC + j);
  }
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      c[(row + i) * b.lines + col + j] = result(place.sums[static_cast<std::size_t>(i * NC + j)]);
}

}  // namespace

extern "C" void gemm(const unsigned char* A, const unsigned char* B, Result* C, int m, int n, int k, int threads,
                     const float* scale_a, int ld_scale_a, const float* scale_b, int ld_scale_b) {
  const ScaledA a = {A, m, k, scale_a, ld_scale_a};
  const ScaledB b = {B, n, k, scale_b, ld_scale_b};
#pragma omp parallel num_threads(threads)
  {
    thread_local Workplace place;
#pragma omp for collapse(2) schedule(dynamic)
    for (Index i = 0; i < m; i += MC)
      for (Index j = 0; j < n; j += NC) compute_tile(a, b, i, j, place, C);
  }
}
