// Groups of rows, each times a matrix of its own, in single precision on CPUs: rows offsets[e] to offsets[e + 1] of C
// are those of A times B[e]. A and C are row-major, each B column-major, and all are tight.
//
// A thread computes a tile of C at a time, MC x NC, in memory of its own. No tile crosses the end of a group, so that
// the last one of a group has fewer rows; small groups share the threads as large ones do. Slices of A and B, KC wide,
// are packed, and a part of the tile (MR x NR) stays in registers while k runs through a slice.
//
//   MR, NR       part in registers: MR*NR/VL sums, NR/VL vectors of B and one value of A have to fit
//   MC, NC, KC   tile and slice: MC*NC + KC*(MC + NC) floats want the L2 cache; multiples of MR and NR
//   VL           floats in a vector
//   threads      run-time argument: threads that share the tiles

#include <omp.h>

#include <cstring>
#include <vector>

#if !defined(MR) || !defined(NR) || !defined(MC) || !defined(NC) || !defined(KC) || !defined(VL)
#error "needs -D of MR NR MC NC KC VL, for example 6 16 48 128 512 8; see the head of the file"
#endif
#include "packed_tile.h"

namespace {

/// The rows of a tile.
struct Rows {
  Index group, first, count;
};

std::vector<Rows> rows_of_tiles(const int* offsets, int groups) {
  std::vector<Rows> tiles;
  for (int group = 0; group < groups; ++group)
    for (Index first = offsets[group]; first < offsets[group + 1]; first += MC)
      tiles.push_back({group, first, min(MC, offsets[group + 1] - first)});
  return tiles;
}

/// Lines of k neighbours each, as slivers of kWidth lines, one step of k behind the other, with zeros at their edges.
template <int kWidth>
void pack(const float* lines, Index count, Index k, Index kc, float* to) {
  for (Index sliver = 0; sliver < count; sliver += kWidth, to += kWidth * kc)
    for (Index i = 0; i < kWidth; ++i) {
      const bool inside = sliver + i < count;
      const float* const from = lines + (sliver + i) * k;
      for (Index q = 0; q < kc; ++q) to[q * kWidth + i] = inside ? from[q] : 0;
    }
}

/// A tile of C, from the rows of A and the columns of B that it depends on.
void compute_tile(const float* a, Index rows, const float* b, Index cols, Index k, Index n, Workplace& place,
                  float* c) {
  std::memset(place.sums.data(), 0, place.sums.size() * sizeof(float));
  for (Index p = 0; p < k; p += KC) {
    const Index kc = min(KC, k - p);
    pack<MR>(a + p, rows, k, kc, place.a.data());
    pack<NR>(b + p, cols, k, kc, place.b.data());
    for (Index j = 0; j < cols; j += NR)
      for (Index i = 0; i < rows; i += MR)
        multiply(place.a.data() + i * kc, place.b.data() + j * kc, kc, place.sums.data() + i * NC + j);
  }
  for (Index i = 0; i < rows; ++i)
    std::memcpy(c + i * n, place.sums.data() + i * NC, static_cast<std::size_t>(cols) * sizeof(float));
}

}  // namespace

extern "C" void gemm(const float* A, const float* B, float* C, int n, int k, int threads, const int* offsets,
                     int groups) {
  const std::vector<Rows> tiles = rows_of_tiles(offsets, groups);
  const auto count = static_cast<Index>(tiles.size());
#pragma omp parallel num_threads(threads)
  {
    thread_local Workplace place;
#pragma omp for collapse(2) schedule(dynamic)
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < n; j += NC) {
        const Rows& rows = tiles[static_cast<std::size_t>(i)];
        compute_tile(A + rows.first * k, rows.count, B + (rows.group * n + j) * k, min(NC, n - j), k, n, place,
                     C + rows.first * n + j);
      }
  }
}
