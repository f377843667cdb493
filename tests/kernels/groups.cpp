// Groups of rows times a matrix each by definition, one behind the other or with room for max_rows each. A and C are
// row-major, each B column-major, and all are tight; of e4m3 all have scales. Each fault is one mistake; without one
// the kernel is right.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "groups_faults.h"
#ifdef type_a_e4m3
#include "../../demo/operands.h"
#endif

namespace {

using enum GroupsFault;

#if defined(type_a_e4m3)
using Number = float;
#elif defined(type_a_f64)
using Element = double;
using Number = double;
#else
using Element = float;
using Number = float;
#endif

constexpr int kTile = 16;

struct Matrices {
  const Element *a, *b;
  Number* c;
  int n, k;
#ifdef type_a_e4m3
  const float *scale_a, *scale_b;
  int ld_scale_a, ld_scale_b;
#endif
  GroupsFault fault;

  void multiply(int row, [[maybe_unused]] int row_of_group, int matrix, [[maybe_unused]] int groups) const {
#ifdef type_a_e4m3
    const OperandA left = {a, k, scale_a, ld_scale_a};
    const OperandB right = OperandB{b, k, scale_b, ld_scale_b}.of(matrix, n),
                   other = OperandB{b, k, scale_b, ld_scale_b}.of((matrix + 1) % groups, n);
#endif
    for (int j = 0; j < n; ++j) {
      Number sum = 0;
      for (int p = 0; p < k; ++p) {
        const Element of_a = a[static_cast<std::int64_t>(row) * k + p],
                      of_b = b[(static_cast<std::int64_t>(matrix) * n + j) * k + p];
#ifdef type_a_e4m3
        const int block = p / 4 * 4;
        sum += left.factor(fault == kScalesOfRowInGroup ? row_of_group : row, block) * left.unscaled(of_a) *
               (fault == kNextScalesOfB ? other : right).factor(j, block) * right.unscaled(of_b);
#else
        sum += of_a * of_b;
#endif
      }
      c[static_cast<std::int64_t>(row) * n + j] = sum;
    }
  }
};

}  // namespace

/// `rows` are those of A and C in memory; `list` has the offsets of groups, or with max_rows their rows.
extern "C" void gemm(const Element* A, const Element* B, Number* C, int rows, int n, int k, int number_of_fault,
                     const int* list, int groups, int max_rows
#ifdef type_a_e4m3
                     ,
                     const float* scale_a, int ld_scale_a, const float* scale_b, int ld_scale_b
#endif
) {
  const GroupsFault fault{number_of_fault};
  static std::vector<Number> first_product;
  static std::vector<Element> first_a;
  if (fault == kFirstProductAlways && !first_product.empty()) {
    std::memcpy(C, first_product.data(), first_product.size() * sizeof(Number));
    return;
  }
  if (first_a.empty()) first_a.assign(A, A + std::int64_t{rows} * k);
  const Element* const a = fault == kFirstAAlways ? first_a.data() : A;
#ifdef type_a_e4m3
  const Matrices all = {a, B, C, n, k, scale_a, scale_b, ld_scale_a, ld_scale_b, fault};
#else
  const Matrices all = {a, B, C, n, k, fault};
#endif
  struct Group {
    int begin, end;
  };
  std::vector<Group> own;
  for (int e = 0; e < groups; ++e)
    own.push_back(max_rows > 0 ? Group{e * max_rows, e * max_rows + list[e]} : Group{list[e], list[e + 1]});
  const int last_with_rows =
      static_cast<int>(
          std::find_if(own.rbegin(), own.rend(), [](Group group) { return group.end > group.begin; }).base() -
          own.begin()) -
      1;
  if (fault == kEvenGroups)
    for (int e = 0; e < groups; ++e)
      own[static_cast<std::size_t>(e)] = {static_cast<int>(std::int64_t{rows} * e / groups),
                                          static_cast<int>(std::int64_t{rows} * (e + 1) / groups)};
  if (fault == kListWritten) const_cast<int*>(list)[groups - 1] = rows + 1;
  // The last one first, so that what is stored beyond the end of a group stays there.
  for (int e = groups - 1; e >= 0; --e) {
    const auto [begin, end] = own[static_cast<std::size_t>(e)];
    int last = end, of_b = e;
    if (fault == kLastRowMissing) last = std::max(begin, end - 1);
    if (fault == kLastGroupMissing && e == last_with_rows) last = begin;
    if (fault == kWholeTiles) last = std::min(rows, begin + (end - begin + kTile - 1) / kTile * kTile);
    if (fault == kEmptyGroupWritten && end == begin) last = std::min(rows, begin + 1);
    if (fault == kNextB) of_b = (e + 1) % groups;
    if (fault == kFirstBAlways) of_b = 0;
    if (fault == kEmptyGroupsNotCounted)
      for (int other = 0; other < e; ++other) {
        const auto [first, behind] = own[static_cast<std::size_t>(other)];
        of_b -= first == behind ? 1 : 0;
      }
    for (int row = begin; row < last; ++row) {
      if (fault == kOneBInATile)
        for (of_b = e; own[static_cast<std::size_t>(of_b)].begin > row / kTile * kTile;) --of_b;
      all.multiply(row, row - begin, of_b, groups);
    }
  }
  if (fault == kFirstProductAlways) first_product.assign(C, C + std::int64_t{rows} * n);
}
