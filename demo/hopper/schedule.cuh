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

/// x / y for x below 2^20: exact, because the quotient of x + 0.5 is further from a whole number than its error is. The
/// division of integers takes several times as long, and no load is asked for before it.
__device__ __forceinline__ unsigned divide(unsigned x, unsigned y) {
  return static_cast<unsigned>(__fdividef(static_cast<float>(x) + 0.5F, static_cast<float>(y)));
}

/// The work of a grid. C has rows x cols elements in tiles of kTileRows x kTileCols, and k has `slices` slices. Blocks
/// come in clusters, and a cluster takes kClusterRows x kClusterCols neighbouring tiles at a time. With kSplit, `parts`
/// neighbours in the grid share them.
///
/// Blocks that run at the same time share rows of A and columns of B in the L2 cache if their tiles form a square: they
/// go down `group` rows of tiles before they go on to the next column.
template <int kTileRows, int kTileCols, int kClusterRows, int kClusterCols, bool kSplit>
struct Schedule {
  static constexpr unsigned kClusterBlocks = kClusterRows * kClusterCols;
  unsigned down, across, slices, group, parts;  // rows and columns of clusters
  unsigned cluster, clusters, rank;

  __device__ Schedule(int rows, int cols, int slices_of_k, int in_group, int of_tile, unsigned block, unsigned blocks)
      : down((rows + kTileRows * kClusterRows - 1) / (kTileRows * kClusterRows)),
        across((cols + kTileCols * kClusterCols - 1) / (kTileCols * kClusterCols)),
        slices(slices_of_k),
        group(in_group),
        parts(kSplit ? of_tile : 1),
        cluster(block / kClusterBlocks),
        clusters(blocks / kClusterBlocks),
        rank(block % kClusterBlocks) {}

  /// A cluster's pieces of work are at(0), at(1), ... as long as it has them.
  __device__ bool has(unsigned turn) const { return cluster + turn * clusters < down * across * parts; }

  __device__ Work at(unsigned turn) const {
    const unsigned index = cluster + turn * clusters;
    const unsigned tile = kSplit ? divide(index, parts) : index, part = index - tile * parts;
    const unsigned above = divide(tile, group * across) * group, place = tile - above * across;
    const unsigned high = above + group < down ? group : down - above;
    const unsigned col = divide(place, high), row = above + place - col * high;
    return {static_cast<int>(tile * kClusterBlocks + rank),
            static_cast<int>((row * kClusterRows + rank % kClusterRows) * kTileRows),
            static_cast<int>((col * kClusterCols + rank / kClusterRows) * kTileCols), static_cast<int>(part),
            static_cast<int>(kSplit ? divide(slices - part + parts - 1, parts) : slices)};
  }
};

/// Where a byte lies in rows of 128 bytes that the TMA swizzles by 128 bytes.
__device__ __forceinline__ unsigned swizzled(unsigned offset) { return offset ^ (offset >> 3 & 0x70); }

}  // namespace
