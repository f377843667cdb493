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

  __device__ GroupedWork first() const { return at(0); }

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

/// The same where tiles with at most half of the rows have twice as many columns. They take as long as whole ones, or
/// with a quarter of the rows two thirds of that.
///
/// Groups that have no more than a quarter of a tile's rows come first. Three of their tiles take as long as two whole
/// ones, and memory is read while others multiply: so a few clusters have three each, and begin with the third piece
/// of the rest, of which the other clusters have two more.
template <int kTileRows, int kTileCols>
struct WideSchedule : GroupedSchedule<kTileRows, kTileCols, false, kTileRows / 2> {
  using Base = GroupedSchedule<kTileRows, kTileCols, false, kTileRows / 2>;
  using Base::kWhole, Base::shape, Base::groups, Base::group, Base::before, Base::place, Base::cluster, Base::clusters;
  enum { kFew = kTileRows / 4 };  // rows

  unsigned across, across_wide;  // how many whole and wide tiles lie side by side, in clusters
  unsigned few = 0;              // tiles of groups with few rows
  unsigned at_a_time = 3;        // of which a cluster takes so many
  unsigned without = 0;          // clusters that have none of them, or fewer than the others
  unsigned early = 0;            // pieces of the rest that only these have
  mutable bool among_few = true;

  __device__ WideSchedule(const int* list_of_groups, int groups_of_rows, int rows_of_group, int columns,
                          int slices_of_k, int rows_of_tiles, Cluster of_blocks, unsigned block, unsigned blocks)
      : Base(list_of_groups, groups_of_rows, rows_of_group, columns, slices_of_k, rows_of_tiles, of_blocks, block,
             blocks),
        across(Cluster::over(this->others + shape.cols - 1, shape.cols)),
        across_wide(Cluster::over((this->others + 1) / 2 + shape.cols - 1, shape.cols)) {}

  /// The first piece of work. A whole warp calls this.
  __device__ GroupedWork first() {
#ifdef __CUDA_ARCH__
    const int lane = threadIdx.x % 32, lanes = 32;
#else
    const int lane = 0, lanes = 1;
#endif
    unsigned length = 0;
    for (int i = lane; i < groups; i += lanes) {
      const unsigned rows = rows_of(i);
      if (rows > kFew)
        length += down_of(rows) * across * kWhole + across_wide * length_of(rows);
      else if (rows > 0)
        few += across_wide;
    }
#ifdef __CUDA_ARCH__
    few = __reduce_add_sync(~0U, few);
    length = __reduce_add_sync(~0U, length);
#endif
    without = clusters - (few + 2) / 3;
    early = 2 * without;
    // Many that are read at once take longer, and the other clusters may have less to do.
    if (few > clusters || length < early * kWhole) {
      at_a_time = 1;
      without = early = clusters - (few - divide(few, clusters) * clusters);
    }
    place = cluster * at_a_time;
    return at(0);
  }

  __device__ bool next(unsigned& turn, GroupedWork& work) const {
    work = at(++turn);
    return Base::has(turn);
  }

  /// Called for one piece after the other.
  __device__ GroupedWork at(unsigned) const {
    if (among_few) {
      if (place < few) return among_few_rows();
      among_few = false;
      group = 0;
      before = 0;
      place = (cluster + without < clusters ? early + cluster : cluster + without - clusters) * kWhole;
    }
    unsigned down = 0, whole = 0, length = kWhole, of_group = 0;
    for (; group < groups; before += of_group, ++group) {
      const unsigned rows = rows_of(group);
      of_group = 0;
      if (rows <= kFew) continue;
      length = length_of(rows);
      down = down_of(rows);
      whole = down * across * kWhole;
      of_group = whole + across_wide * length;
      if (length == 0) length = kWhole;
      if (place + length <= before + of_group) break;
    }
    if (group >= groups) return {};
    const unsigned from = place > before ? place - before : 0;
    unsigned row = down, col = 0, begin = before, columns = kTileCols;
    if (from + kWhole > whole) {
      col = from > whole ? divide(from - whole + length - 1, length) : 0;
      begin += whole + col * length;
      columns *= 2;
    } else {
      const unsigned tile = (from + kWhole - 1) / kWhole;
      const unsigned above = divide(tile, this->in_group * across) * this->in_group, within = tile - above * across;
      const unsigned high = above + this->in_group < down ? this->in_group : down - above;
      col = divide(within, high);
      row = above + within - col * high;
      begin += tile * kWhole;
      length = kWhole;
    }
    const unsigned piece = begin / kWhole;
    if (begin + length < (piece + 1) * kWhole)
      place = begin + length;
    else if (piece < early)
      place = (piece + without < early ? piece + without : early + cluster) * kWhole;
    else
      place = (piece + clusters) * kWhole;
    return work_at(row, col, columns);
  }

 private:
  __device__ int first_row(int i) const {
#if groups_masked
    return i * this->max_rows;
#else
    return this->list[i];
#endif
  }
  __device__ unsigned rows_of(int i) const {
#if groups_masked
    return this->list[i];
#else
    return this->list[i + 1] - this->list[i];
#endif
  }
  /// How many whole tiles lie one below the other in a group of so many rows.
  __device__ static unsigned down_of(unsigned rows) { return (rows + kTileRows / 2 - 1) / kTileRows; }
  /// How long the wide tiles below them are; 0: there are none.
  __device__ static unsigned length_of(unsigned rows) {
    const unsigned above = down_of(rows) * kTileRows;
    return rows <= above ? 0 : rows <= above + kFew ? kWhole / 3 * 2 : kWhole;
  }
  __device__ GroupedWork work_at(unsigned row, unsigned col, unsigned columns) const {
    const int first = first_row(group);
    return {{0, static_cast<int>(row * kTileRows) + first, static_cast<int>((col * shape.cols + this->rank) * columns),
             0, static_cast<int>(this->slices)},
            group,
            first + static_cast<int>(rows_of(group))};
  }
  /// `place` and `before` are numbers of tiles here.
  __device__ GroupedWork among_few_rows() const {
    for (;; ++group) {
      const unsigned rows = rows_of(group);
      if (rows == 0 || rows > kFew) continue;
      if (place < before + across_wide) break;
      before += across_wide;
    }
    const unsigned col = place - before;
    ++place;
    if (at_a_time == 1)
      place += clusters - 1;
    else if (place % 3 == 0)
      place += (clusters - 1) * 3;
    return work_at(0, col, 2 * kTileCols);
  }
};

/// One of the two.
template <int kTileRows, int kTileCols, bool kSwap, int kHalf, bool kWide>
struct Choice {
  using Type = GroupedSchedule<kTileRows, kTileCols, kSwap, kHalf>;
};
template <int kTileRows, int kTileCols, bool kSwap, int kHalf>
struct Choice<kTileRows, kTileCols, kSwap, kHalf, true> {
  using Type = WideSchedule<kTileRows, kTileCols>;
};
template <int kTileRows, int kTileCols, bool kSwap, int kHalf, bool kWide>
using Groups = typename Choice<kTileRows, kTileCols, kSwap, kHalf, kWide>::Type;

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
