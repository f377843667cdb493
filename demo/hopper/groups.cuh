// Groups of rows of A and C, each of which is multiplied by a matrix of B of its own. The macros are those of `defines:
// [groups]` in a tuning file (docs/tuning-file.md, Groups of rows): without groups there is none, and nothing of this
// is compiled.
#pragma once
#include "schedule.cuh"

#if groups_contiguous || groups_masked
#define HAS_GROUPS 1

namespace {

struct GroupedWork : Work {
  int group;  // the number of B's matrix
  int end;    // the first row that is not the group's
};

/// The work of a grid, as of Schedule, where no tile has rows of two groups: those of a group, and then those of the
/// next. With kSwap the tiles' columns are rows of A, otherwise their rows; there are `others` in the other direction.
/// Each thread goes through the groups once.
///
/// A tile with at most kHalf rows takes half as long as a whole one, and one with a quarter of the rows a third, as it
/// reads as much of B. So tiles lie one behind the other as if on a line, and a cluster has those that begin in every
/// so many-th piece of it, each of which is as long as a whole tile.
template <int kTileRows, int kTileCols, bool kSwap, int kHalf>
struct GroupedSchedule {
  using Piece = GroupedWork;
  enum { kWhole = kHalf > 0 ? 6 : 1 };  // how long a whole tile is

  const int* list;  // group_offsets, or group_rows
  int groups, max_rows;
  Cluster shape;
  unsigned others, slices, in_group, parts = 1;
  unsigned cluster, clusters, rank;
  mutable int group = 0;
  mutable unsigned before = 0;  // how long the groups before this one are
  mutable unsigned place;       // where the cluster's next tile begins, or before that

  __device__ GroupedSchedule(const int* list_of_groups, int groups_of_rows, int rows_of_group, int others_of_all,
                             int slices_of_k, int rows_of_tiles, Cluster of_blocks, unsigned block, unsigned blocks)
      : list(list_of_groups),
        groups(groups_of_rows),
        max_rows(rows_of_group),
        shape(of_blocks),
        others((others_of_all + (kSwap ? kTileRows : kTileCols) - 1) / (kSwap ? kTileRows : kTileCols)),
        slices(slices_of_k),
        in_group(rows_of_tiles),
        cluster(Cluster::over(Cluster::over(block, shape.rows), shape.cols)),
        clusters(Cluster::over(Cluster::over(blocks, shape.rows), shape.cols)),
        rank(block - cluster * shape.blocks()),
        place(cluster * kWhole) {}

  __device__ unsigned first_slice(unsigned stagger) const {
    return cluster * stagger - divide(cluster * stagger, slices) * slices;
  }
  /// Of the piece that at() was called for last.
  __device__ bool has(unsigned) const { return group < groups; }
  __device__ bool next(unsigned& turn, GroupedWork& work) const {
    work = at(++turn);
    return has(turn);
  }

  /// Called for one piece after the other.
  __device__ GroupedWork at(unsigned) const {
    unsigned down = 0, across = 0, whole = 0, length = kWhole, of_group = 0;
    int first = 0, end = 0;
    for (; group < groups; before += of_group, ++group) {
#if groups_masked
      first = group * max_rows;
      end = first + list[group];
#else
      first = list[group];
      end = list[group + 1];
#endif
      const unsigned rows = end - first;
      down = kSwap ? others : (rows + kTileRows - 1) / kTileRows;
      across = kSwap ? (rows + kTileCols - 1) / kTileCols : others;
      down = Cluster::over(down + shape.rows - 1, shape.rows);
      across = Cluster::over(across + shape.cols - 1, shape.cols);
      length = kWhole;  // of its last tile
      if (kHalf > 0 && rows > 0 && (rows - 1) % kTileRows < kHalf) {
        length = (rows - 1) % kTileRows < kTileRows / 4 ? kWhole / 3 : kWhole / 2;
        --down;
      }
      whole = down * across * kWhole;
      of_group = length < kWhole ? whole + across * length : whole;
      if (place + length <= before + of_group) break;
    }
    const unsigned from = place > before ? place - before : 0;
    unsigned row = down, col = 0, begin = before;
    if (kHalf > 0 && from + kWhole > whole) {
      col = from > whole ? (from - whole + length - 1) / length : 0;
      begin += whole + col * length;
    } else {
      const unsigned tile = (from + kWhole - 1) / kWhole, above = divide(tile, in_group * across) * in_group;
      const unsigned within = tile - above * across, high = above + in_group < down ? in_group : down - above;
      col = divide(within, high);
      row = above + within - col * high;
      begin += tile * kWhole;
      length = kWhole;
    }
    const unsigned piece = begin / kWhole;
    place = begin + length < (piece + 1) * kWhole ? begin + length : (piece + clusters) * kWhole;
    return {{0, static_cast<int>((row * shape.rows + shape.row_of(rank)) * kTileRows) + (kSwap ? 0 : first),
             static_cast<int>((col * shape.cols + shape.col_of(rank)) * kTileCols) + (kSwap ? first : 0), 0,
             static_cast<int>(slices)},
            group,
            end};
  }
};

/// The scales of a group's matrix of B.
__device__ __forceinline__ const float* scales_of(const GroupedWork& work, const float* all, int n, int k) {
#if scale_b_tensor
  return all + work.group;
#elif scale_b_col
  return all + static_cast<long long>(work.group) * n;
#else
  const int slices = (k + 127) / 128, ld = (slices + 3) / 4 * 4;
  return all + static_cast<long long>(work.group) * ((n + 127) / 128) * ld;
#endif
}

}  // namespace
#else
#define HAS_GROUPS 0
#endif
