// Groups of rows times a matrix each by definition: rows offsets[e] to offsets[e + 1] of C are those of A times B[e].
// A and C are row-major, each B column-major, and all are tight. Each fault is one mistake; without one the kernel is
// right.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "groups_faults.h"

namespace {

using enum GroupsFault;

#ifdef type_a_f64
using Number = double;
#else
using Number = float;
#endif

constexpr int kTile = 16;

struct Matrices {
  const Number *a, *b;
  Number* c;
  int n, k;

  void multiply(int row, int matrix) const {
    for (int j = 0; j < n; ++j) {
      Number sum = 0;
      for (int p = 0; p < k; ++p)
        sum += a[static_cast<std::int64_t>(row) * k + p] * b[(static_cast<std::int64_t>(matrix) * n + j) * k + p];
      c[static_cast<std::int64_t>(row) * n + j] = sum;
    }
  }
};

}  // namespace

extern "C" void gemm(const Number* A, const Number* B, Number* C, int m, int n, int k, int number_of_fault,
                     const int* offsets, int groups) {
  const GroupsFault fault{number_of_fault};
  static std::vector<Number> first_product, first_a;
  if (fault == kFirstProductAlways && !first_product.empty()) {
    std::memcpy(C, first_product.data(), first_product.size() * sizeof(Number));
    return;
  }
  if (first_a.empty()) first_a.assign(A, A + std::int64_t{m} * k);
  const Matrices all = {fault == kFirstAAlways ? first_a.data() : A, B, C, n, k};
  std::vector<int> own(offsets, offsets + groups + 1);
  if (fault == kEvenGroups)
    for (int e = 0; e <= groups; ++e) own[static_cast<std::size_t>(e)] = static_cast<int>(std::int64_t{m} * e / groups);
  if (fault == kOffsetsWritten) const_cast<int*>(offsets)[groups] = m + 1;
  const auto begin_of = [&](int e) { return own[static_cast<std::size_t>(e)]; };
  // The last one first, so that what is stored beyond the end of a group stays there.
  for (int e = groups - 1; e >= 0; --e) {
    const int begin = begin_of(e), end = begin_of(e + 1);
    int last = end, of_b = e;
    if (fault == kLastRowMissing) last = std::max(begin, end - 1);
    if (fault == kLastGroupMissing && end == m) last = begin;
    if (fault == kWholeTiles) last = std::min(m, begin + (end - begin + kTile - 1) / kTile * kTile);
    if (fault == kEmptyGroupWritten && end == begin) last = std::min(m, begin + 1);
    if (fault == kNextB) of_b = (e + 1) % groups;
    if (fault == kFirstBAlways) of_b = 0;
    if (fault == kEmptyGroupsNotCounted)
      for (int other = 0; other < e; ++other) of_b -= begin_of(other) == begin_of(other + 1) ? 1 : 0;
    for (int row = begin; row < last; ++row) {
      if (fault == kOneBInATile)
        for (of_b = e; begin_of(of_b) > row / kTile * kTile;) --of_b;
      all.multiply(row, of_b);
    }
  }
  if (fault == kFirstProductAlways) first_product.assign(C, C + std::int64_t{m} * n);
}
