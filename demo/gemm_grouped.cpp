// C = A * B on CPUs, with scales of fp8, or with groups of rows that are multiplied by a matrix each, or with both. A
// is row-major, B column-major, C row-major, and all are tight. operands.h says which types, scales and groups there
// are.
//
// A thread computes a tile of C at a time, MC x NC, in memory of its own. No tile crosses the end of a group, so that
// the last one of a group has fewer rows; small groups share the threads as large ones do. Slices of A and B, KC wide,
// are packed as floats that are multiplied by their scales already, and a part of the tile (MR x NR) stays in registers
// while k runs through a slice.
//
//   MR, NR       part in registers: MR*NR/VL sums, NR/VL vectors of B and one value of A have to fit
//   MC, NC, KC   tile and slice: MC*NC + KC*(MC + NC) floats want the L2 cache; multiples of MR, NR and 4
//   VL           floats in a vector
//   threads      run-time argument: threads that share the tiles

#include <omp.h>

#include <cstring>
#include <vector>

#include "operands.h"

#if !defined(MR) || !defined(NR) || !defined(MC) || !defined(NC) || !defined(KC) || !defined(VL)
#error "needs -D of MR NR MC NC KC VL, for example 6 16 48 128 512 8; see the head of the file"
#endif
static_assert(NR % VL == 0 && MC % MR == 0 && NC % NR == 0, "see the head of the file");
static_assert(KC % 4 == 0, "elements of a slice's line share a scale in fours");

namespace {

using Index = std::ptrdiff_t;
using Vector [[gnu::vector_size(VL * sizeof(float))]] = float;

constexpr int kVectors = NR / VL;

constexpr Index min(Index a, Index b) { return a < b ? a : b; }

/// What one thread works on.
struct Workplace {
  std::vector<float> a = std::vector<float>(std::size_t{MC} * KC), b = std::vector<float>(std::size_t{NC} * KC),
                     sums = std::vector<float>(std::size_t{MC} * NC);
};

/// A part of the tile += sliver of A * sliver of B.
void multiply(const float* a, const float* b, Index kc, float* sums) {
  Vector part[MR][kVectors];
  for (int i = 0; i < MR; ++i) std::memcpy(part[i], sums + i * NC, sizeof part[i]);
  for (Index p = 0; p < kc; ++p, a += MR, b += NR) {
    Vector row[kVectors];
    std::memcpy(row, b, sizeof row);
#pragma GCC unroll 64
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 64
      for (int j = 0; j < kVectors; ++j) part[i][j] += a[i] * row[j];
  }
  for (int i = 0; i < MR; ++i) std::memcpy(sums + i * NC, part[i], sizeof part[i]);
}

/// The rows of a tile.
struct Rows {
  Index first, count;
  int group;
};

std::vector<Rows> rows_of_tiles(const Groups& groups) {
  std::vector<Rows> tiles;
  for (int group = 0; group < groups.count; ++group)
    for (Index row = 0; row < groups.rows(group); row += MC)
      tiles.push_back({groups.first(group) + row, min(MC, groups.rows(group) - row), group});
  return tiles;
}

/// Lines from `first` on, as slivers of kWidth lines each, one step of k behind the other, with zeros at their edges.
template <int kWidth, typename Matrix>
void pack(const Matrix& matrix, Index first, Index count, Index p, Index kc, float* to) {
  for (Index sliver = 0; sliver < count; sliver += kWidth, to += kWidth * kc)
    for (Index i = 0; i < kWidth; ++i) {
      const Index line = first + sliver + i;
      const bool inside = sliver + i < count;
      const Element* const from = matrix.data + line * matrix.k + p;
      for (Index q = 0; q < kc; q += 4) {
        const float factor = inside ? matrix.factor(static_cast<int>(line), static_cast<int>(p + q)) : 0;
        for (Index j = q; j < min(q + 4, kc); ++j) to[j * kWidth + i] = inside ? factor * Matrix::unscaled(from[j]) : 0;
      }
    }
}

void compute_tile(const OperandA& a, const OperandB& b, const Rows& rows, Index col, Index n, Workplace& place,
                  Result* c) {
  const Index cols = min(NC, n - col);
  std::memset(place.sums.data(), 0, place.sums.size() * sizeof(float));
  for (Index p = 0; p < a.k; p += KC) {
    const Index kc = min(KC, a.k - p);
    pack<MR>(a, rows.first, rows.count, p, kc, place.a.data());
    pack<NR>(b, col, cols, p, kc, place.b.data());
    for (Index j = 0; j < cols; j += NR)
      for (Index i = 0; i < rows.count; i += MR)
        multiply(place.a.data() + i * kc, place.b.data() + j * kc, kc, place.sums.data() + i * NC + j);
  }
  for (Index i = 0; i < rows.count; ++i)
    for (Index j = 0; j < cols; ++j)
      c[(rows.first + i) * n + col + j] = result(place.sums[static_cast<std::size_t>(i * NC + j)]);
}

}  // namespace

extern "C" void gemm(const Element* A, const Element* B, Result* C, int m, int n, int k, int threads,
                     [[maybe_unused]] int ld_scale_a, [[maybe_unused]] int ld_scale_b, [[maybe_unused]] int groups,
                     [[maybe_unused]] int max_rows
#if HAS_SCALES
                     ,
                     const float* scale_a, const float* scale_b
#endif
#if HAS_GROUPS
                     ,
                     const int* list
#endif
) {
#if HAS_SCALES
  const OperandA a = {A, k, scale_a, ld_scale_a};
  const OperandB b = {B, k, scale_b, ld_scale_b};
#else
  const OperandA a = {A, k};
  const OperandB b = {B, k};
#endif
#if HAS_GROUPS
  const Groups all = {list, groups, max_rows, m};
#else
  const Groups all = {nullptr, 1, m, m};
#endif
  const std::vector<Rows> tiles = rows_of_tiles(all);
  const auto count = static_cast<Index>(tiles.size());
#pragma omp parallel num_threads(threads)
  {
    thread_local Workplace place;
#pragma omp for collapse(2) schedule(dynamic)
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < n; j += NC) {
        const Rows& rows = tiles[static_cast<std::size_t>(i)];
        compute_tile(a, b.of(rows.group, n), rows, j, n, place, C);
      }
  }
}
