// Who computes what: the tiles of C, the slices of k, and the order in which blocks take them. This is arithmetic only,
// and compiles for the host as well, where it is tested.
#pragma once

namespace {

/// A piece of work of one block: a tile, and the slices of k whose products it adds up. Parts of one tile take turns at
/// its slices, so that what they read at the same time is close together in memory.
struct Work {
  int tile;      // its number, in any order
  int row, col;  // where it begins
  int part;      // the first slice, too
  int slices;    // how many: every parts-th one
};

/// How the blocks of a grid share tiles: not at all, all blocks of a cluster one tile, or `parts` neighbours in the
/// grid.
enum class Sharing { none, cluster, grid };

/// The work of a grid. C has rows x cols elements in tiles of kTileRows x kTileCols, and k has `slices` slices. Blocks
/// come in clusters; a cluster takes kClusterRows x kClusterCols neighbouring tiles at a time, or one tile with
/// Sharing::cluster.
///
/// Blocks that run at the same time share rows of A and columns of B in the L2 cache if their tiles form a square: they
/// go down `group` rows of tiles before they go on to the next column.
template <int kTileRows, int kTileCols, int kClusterRows, int kClusterCols, Sharing kSharing>
struct Schedule {
  unsigned down, across, slices, group, parts;  // rows and columns of clusters
  unsigned cluster_blocks, cluster, clusters, rank;

  __device__ Schedule(int rows, int cols, int slices_of_k, int in_group, int of_tile, unsigned block, unsigned blocks)
      : down((rows + kTileRows * kClusterRows - 1) / (kTileRows * kClusterRows)),
        across((cols + kTileCols * kClusterCols - 1) / (kTileCols * kClusterCols)),
        slices(slices_of_k),
        group(in_group),
        parts(kSharing == Sharing::none ? 1 : of_tile),
        cluster_blocks(kSharing == Sharing::cluster ? parts : kClusterRows * kClusterCols),
        cluster(block / cluster_blocks),
        clusters(blocks / cluster_blocks),
        rank(block % cluster_blocks) {}

  /// A cluster's pieces of work are those with the indices cluster, cluster + clusters, ... below count().
  __device__ unsigned count() const { return down * across * (kSharing == Sharing::grid ? parts : 1); }

  __device__ Work at(unsigned index) const {
    const unsigned tile = kSharing == Sharing::grid ? index / parts : index;
    const unsigned part = kSharing == Sharing::grid ? index % parts : kSharing == Sharing::cluster ? rank : 0;
    const unsigned above = tile / (group * across) * group, place = tile - above * across;
    const unsigned high = above + group < down ? group : down - above;
    const unsigned row = above + place % high, col = place / high;
    const unsigned mine = kSharing == Sharing::cluster ? 0 : rank;  // of the cluster's tiles
    return {static_cast<int>(tile * kClusterRows * kClusterCols + mine),
            static_cast<int>((row * kClusterRows + mine % kClusterRows) * kTileRows),
            static_cast<int>((col * kClusterCols + mine / kClusterRows) * kTileCols), static_cast<int>(part),
            static_cast<int>((slices - part + parts - 1) / parts)};
  }
};

/// Where 16 bytes lie in rows of kWidth bytes that the TMA swizzles by kWidth bytes: 128, 64 or 32.
template <int kWidth>
__device__ __forceinline__ unsigned swizzled(unsigned offset) {
  return offset ^ (offset >> 3 & (kWidth - 16));
}

}  // namespace
