// A tile of C, MC x NC, that a thread computes in memory of its own, from slices of A and B that are packed as slivers:
// a part of the tile (MR x NR) stays in registers while k runs through a slice, KC wide. gemm_grouped.cpp and
// gemm_scaled.cpp differ in what they pack and store.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace {

static_assert(NR % VL == 0 && MC % MR == 0 && NC % NR == 0, "see the head of the kernel's file");

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

}  // namespace
