// Groups of rows of A and C, each of which is multiplied by a matrix of B of its own. The macro is that of `defines:
// [groups]` in a tuning file (docs/tuning-file.md, Groups of rows): without groups there is none, and nothing of this
// is compiled.
#pragma once
#include "pipe.cuh"
#include "schedule.cuh"

#if groups_contiguous
#define HAS_GROUPS 1

namespace {

struct GroupedWork : Work {
  int group;  // the number of B's matrix
  int end;    // the first row that is another group's
};

/// The work of a grid, as of Schedule, where no tile has rows of two groups: those of a group, and then those of the
/// next. With kSwap the tiles' columns are rows of A, otherwise their rows; there are `others` in the other direction.
/// Each thread goes through the groups once.
template <int kTileRows, int kTileCols, bool kSwap>
struct GroupedSchedule {
  using Piece = GroupedWork;

  const int* offsets;
  int groups;
  Cluster shape;
  unsigned others, slices, in_group, parts = 1;
  unsigned cluster, clusters, rank;
  mutable int group = 0;
  mutable unsigned before = 0;  // tiles of the groups before this one, in clusters

  __device__ GroupedSchedule(const int* offsets_of_groups, int groups_of_rows, int others_of_all, int slices_of_k,
                             int rows_of_tiles, Cluster of_blocks, unsigned block, unsigned blocks)
      : offsets(offsets_of_groups),
        groups(groups_of_rows),
        shape(of_blocks),
        others((others_of_all + (kSwap ? kTileRows : kTileCols) - 1) / (kSwap ? kTileRows : kTileCols)),
        slices(slices_of_k),
        in_group(rows_of_tiles),
        cluster(Cluster::over(Cluster::over(block, shape.rows), shape.cols)),
        clusters(Cluster::over(Cluster::over(blocks, shape.rows), shape.cols)),
        rank(block - cluster * shape.blocks()) {}

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
  __device__ GroupedWork at(unsigned turn) const {
    const unsigned index = cluster + turn * clusters;
    unsigned down = 0, across = 0;
    int first = 0, end = 0;
    for (; group < groups; before += down * across, ++group) {
      first = offsets[group];
      end = offsets[group + 1];
      const unsigned rows = end - first;
      down = kSwap ? others : (rows + kTileRows - 1) / kTileRows;
      across = kSwap ? (rows + kTileCols - 1) / kTileCols : others;
      down = Cluster::over(down + shape.rows - 1, shape.rows);
      across = Cluster::over(across + shape.cols - 1, shape.cols);
      if (index - before < down * across) break;
    }
    const unsigned tile = index - before, above = divide(tile, in_group * across) * in_group;
    const unsigned place = tile - above * across, high = above + in_group < down ? in_group : down - above;
    const unsigned col = divide(place, high), row = above + place - col * high;
    return {{0, static_cast<int>((row * shape.rows + shape.row_of(rank)) * kTileRows) + (kSwap ? 0 : first),
             static_cast<int>((col * shape.cols + shape.col_of(rank)) * kTileCols) + (kSwap ? first : 0), 0,
             static_cast<int>(slices)},
            group,
            end};
  }
};

}  // namespace
#else
#define HAS_GROUPS 0
#endif
