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
#ifdef __CUDA_ARCH__
  float reciprocal;  // __fdividef() heeds very large y, too, which takes more instructions
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(static_cast<float>(y)));
  return static_cast<unsigned>((static_cast<float>(x) + 0.5F) * reciprocal);
#else
  return static_cast<unsigned>(__fdividef(static_cast<float>(x) + 0.5F, static_cast<float>(y)));
#endif
}

/// The blocks of a cluster: one for each of rows x cols neighbouring tiles, which share what they load. Both are 1
/// or 2.
struct Cluster {
  unsigned rows, cols;

  __device__ unsigned blocks() const { return rows * cols; }
  __device__ unsigned row_of(unsigned rank) const { return rank & (rows - 1); }
  __device__ unsigned col_of(unsigned rank) const { return over(rank, rows); }
  /// x / y, rounded down, for a number of rows or columns y.
  __device__ static unsigned over(unsigned x, unsigned y) { return x >> (y >> 1); }
};

/// The work of a grid. C has rows x cols elements in tiles of kTileRows x kTileCols, and k has `slices` slices. Blocks
/// come in clusters, which take as many neighbouring tiles at a time. With kSplit, `parts` neighbours in the grid share
/// them.
///
/// Blocks that run at the same time share rows of A and columns of B in the L2 cache if their tiles form a square: they
/// go down `group` rows of tiles before they go on to the next column.
template <int kTileRows, int kTileCols, bool kSplit>
struct Schedule {
  using Piece = Work;

  Cluster shape;
  unsigned down, across, slices, group, parts;  // rows and columns of clusters
  unsigned cluster, clusters, rank;

  __device__ Schedule(int rows, int cols, int slices_of_k, int in_group, int of_tile, Cluster of_blocks, unsigned block,
                      unsigned blocks)
      : shape(of_blocks),
        down(Cluster::over((rows + kTileRows - 1) / kTileRows + shape.rows - 1, shape.rows)),
        across(Cluster::over((cols + kTileCols - 1) / kTileCols + shape.cols - 1, shape.cols)),
        slices(slices_of_k),
        group(in_group),
        parts(kSplit ? of_tile : 1),
        cluster(Cluster::over(Cluster::over(block, shape.rows), shape.cols)),
        clusters(Cluster::over(Cluster::over(blocks, shape.rows), shape.cols)),
        rank(block - cluster * shape.blocks()) {}

  /// Where this cluster begins if each begins so many slices after the one before. Blocks that read the same columns of
  /// long rows at a time can be slower than those that do not.
  __device__ unsigned first_slice(unsigned stagger) const {
    return cluster * stagger - divide(cluster * stagger, slices) * slices;
  }

  /// A cluster's pieces of work are at(0), at(1), ... as long as it has them.
  __device__ bool has(unsigned turn) const { return cluster + turn * clusters < down * across * parts; }

  /// Goes on to the next piece of work if there is one. To find out takes less time than at().
  __device__ bool next(unsigned& turn, Work& work) const {
    if (!has(++turn)) return false;
    work = at(turn);
    return true;
  }

  __device__ Work at(unsigned turn) const {
    const unsigned index = cluster + turn * clusters;
    const unsigned tile = kSplit ? divide(index, parts) : index, part = index - tile * parts;
    const unsigned above = divide(tile, group * across) * group, place = tile - above * across;
    const unsigned high = above + group < down ? group : down - above;
    const unsigned col = divide(place, high), row = above + place - col * high;
    return {static_cast<int>(tile * shape.blocks() + rank),
            static_cast<int>((row * shape.rows + shape.row_of(rank)) * kTileRows),
            static_cast<int>((col * shape.cols + shape.col_of(rank)) * kTileCols), static_cast<int>(part),
            static_cast<int>(kSplit ? divide(slices - part + parts - 1, parts) : slices)};
  }
};

/// Where a byte lies in rows of 128 bytes that the TMA swizzles by 128 bytes.
__device__ __forceinline__ unsigned swizzled(unsigned offset) { return offset ^ (offset >> 3 & 0x70); }

}  // namespace
