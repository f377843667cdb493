// The arithmetic of demo/hopper/schedule.cuh, compiled for the host: the blocks of a grid do all the work, and none
// twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#define __device__
#define __forceinline__ inline
/// The device may be wrong by so many steps of a float.
inline int steps_of_error = 0;
inline float __fdividef(float x, float y) {
  float quotient = x / y;
  for (int i = 0; i < std::abs(steps_of_error); ++i)
    quotient = std::nextafterf(quotient, steps_of_error < 0 ? 0 : 1e30F);
  return quotient;
}
#define groups_contiguous 1
#include "../../demo/hopper/groups.cuh"
#include "../../demo/hopper/schedule.cuh"

namespace tune::hopper_schedule_test {
namespace {

struct Grid {
  int rows, cols, slices, group, parts;
  unsigned blocks;
  Cluster cluster = {1, 1};
};

/// How often each slice of each tile is multiplied, by (row, column, slice).
template <typename Tiles>
std::map<std::tuple<int, int, int>, int> multiplied(const Grid& grid) {
  std::map<std::tuple<int, int, int>, int> times;
  for (unsigned block = 0; block < grid.blocks; ++block) {
    const Tiles tiles(grid.rows, grid.cols, grid.slices, grid.group, grid.parts, grid.cluster, block, grid.blocks);
    for (unsigned turn = 0; tiles.has(turn); ++turn) {
      const Work work = tiles.at(turn);
      for (int i = 0; i < work.slices; ++i)
        ++times[{work.row, work.col, work.part + i * static_cast<int>(tiles.parts)}];
    }
  }
  return times;
}

/// Expects each slice of each tile that a grid with clusters of `down` x `across` tiles has once.
template <typename Tiles>
void expect_each_once(const Grid& grid, int tile_rows, int tile_cols) {
  const auto times = multiplied<Tiles>(grid);
  const auto tiles_of = [](int size, int tile) { return (size + tile - 1) / tile * tile; };
  std::size_t expected = 0;
  for (int row = 0; row < tiles_of(grid.rows, tile_rows * static_cast<int>(grid.cluster.rows)); row += tile_rows)
    for (int col = 0; col < tiles_of(grid.cols, tile_cols * static_cast<int>(grid.cluster.cols)); col += tile_cols)
      for (int slice = 0; slice < grid.slices; ++slice, ++expected) {
        const auto found = times.find({row, col, slice});
        ASSERT_TRUE(found != times.end()) << row << " " << col << " " << slice;
        ASSERT_EQ(found->second, 1) << row << " " << col << " " << slice;
      }
  EXPECT_EQ(times.size(), expected);
}

TEST(HopperSchedule, EverySliceOfEveryTileIsMultipliedOnce) {
  for (const int group : {1, 3, 8, 100})
    for (const unsigned blocks : {1u, 7u, 132u}) {
      expect_each_once<Schedule<128, 192, false>>({1000, 2000, 5, group, 1, blocks}, 128, 192);
      expect_each_once<Schedule<64, 8, false>>({64, 1, 1, group, 1, blocks}, 64, 8);
    }
}

TEST(HopperSchedule, ABlockGoesOnToItsNextWorkUntilThereIsNone) {
  const Schedule<64, 64, false> tiles(300, 300, 4, 2, 1, {1, 1}, 3, 7);
  unsigned turn = 0;
  Work work = tiles.at(0);
  while (tiles.next(turn, work)) EXPECT_EQ(work.tile, tiles.at(turn).tile) << turn;
  EXPECT_EQ(turn, 4U) << "25 tiles: the blocks 0 to 3 of 7 have four each";
}

TEST(HopperSchedule, ClustersMayBeginAtDifferentSlices) {
  const auto first_slice = [](unsigned block, unsigned stagger) {
    return Schedule<64, 64, false>(64, 8192, 64, 8, 1, {1, 2}, block, 128).first_slice(stagger);
  };
  EXPECT_EQ(first_slice(127, 0), 0U);
  EXPECT_EQ(first_slice(2, 5), 5U);
  EXPECT_EQ(first_slice(3, 5), 5U) << "both blocks of a cluster read the same slices";
  EXPECT_EQ(first_slice(127, 5), 63U * 5 % 64);
}

TEST(HopperSchedule, ClustersTakeNeighbouringTilesEvenAtTheEdges) {
  expect_each_once<Schedule<128, 128, false>>({900, 1100, 3, 2, 1, 130, {2, 1}}, 128, 128);
  expect_each_once<Schedule<128, 128, false>>({900, 1100, 3, 8, 1, 130, {1, 2}}, 128, 128);
  expect_each_once<Schedule<64, 64, true>>({300, 200, 20, 8, 3, 132, {2, 2}}, 64, 64);
}

TEST(HopperSchedule, PartsOfATileHaveAllItsSlicesBetweenThem) {
  for (const int parts : {2, 3, 8})
    expect_each_once<Schedule<128, 128, true>>({256, 256, 21, 8, parts, static_cast<unsigned>(4 * parts)}, 128, 128);
}

TEST(HopperSchedule, PartsOfATileHaveTheSameNumberOfItAndDifferentTilesDifferentOnes) {
  std::map<int, std::set<std::pair<int, int>>> corners;
  std::map<int, std::set<int>> parts;
  for (unsigned block = 0; block < 48; ++block) {
    const Work work = Schedule<64, 64, true>(256, 256, 30, 8, 3, {2, 1}, block, 48).at(0);
    corners[work.tile].insert({work.row, work.col});
    parts[work.tile].insert(work.part);
  }
  EXPECT_EQ(corners.size(), 16u);
  for (const auto& [tile, places] : corners) EXPECT_EQ(places.size(), 1u) << tile;
  for (const auto& [tile, all] : parts) EXPECT_EQ(all, (std::set<int>{0, 1, 2})) << tile;
}

/// What the blocks of a grid take of groups of so many rows, and how long that is, in sixths of a whole tile.
struct Taken {
  std::map<std::tuple<int, int, int>, int> times;  // by group, row and column
  std::map<unsigned, int> lengths;                 // by block
};

Taken taken(const std::vector<int>& rows, int columns, unsigned blocks, unsigned cols_of_cluster) {
  std::vector<int> offsets = {0};
  for (const int count : rows) offsets.push_back(offsets.back() + count);
  Taken all;
  for (unsigned block = 0; block < blocks; ++block) {
    const GroupedSchedule<256, 128, false, 128> tiles(offsets.data(), static_cast<int>(rows.size()), 0, columns, 5, 8,
                                                      {1, cols_of_cluster}, block, blocks);
    unsigned turn = 0;
    GroupedWork work = tiles.at(0);
    for (bool more = tiles.has(0); more; more = tiles.next(turn, work)) {
      ++all.times[{work.group, work.row, work.col}];
      const int left = work.end - work.row;
      all.lengths[block] += left <= 64 ? 2 : left <= 128 ? 3 : 6;
    }
  }
  return all;
}

TEST(HopperSchedule, TilesOfGroupsAreTakenOnce) {
  for (const std::vector<int>& rows : {std::vector{0, 300, 64, 0, 65, 129, 1, 512, 0}, {1, 1, 1, 700}, {0}, {4096}})
    for (const unsigned blocks : {2u, 6u, 132u})
      for (const unsigned cols_of_cluster : {1u, 2u}) {
        std::size_t expected = 0;
        for (const int count : rows) expected += static_cast<std::size_t>((count + 255) / 256) * 6;  // 640 columns
        const Taken all = taken(rows, 640 + 128, blocks, cols_of_cluster);
        EXPECT_EQ(all.times.size(), expected);
        for (const auto& [tile, times] : all.times) EXPECT_EQ(times, 1);
      }
}

// Tiles of few rows take less time, and fill what whole ones leave.
TEST(HopperSchedule, BlocksGetAsMuchOfSkewedGroupsAsTheEvenShare) {
  for (const unsigned cols_of_cluster : {1u, 2u}) {
    const Taken all = taken({2048, 1024, 512, 256, 128, 64, 32, 32}, 4096, 132, cols_of_cluster);
    for (const auto& [block, length] : all.lengths) EXPECT_LE(length, 4 * 6 + 1) << block;
  }
}

/// The same of wide tiles, each of which counts as two that lie side by side.
Taken taken_wide(const std::vector<int>& rows, int columns, unsigned blocks, unsigned cols_of_cluster) {
  std::vector<int> offsets = {0};
  for (const int count : rows) offsets.push_back(offsets.back() + count);
  Taken all;
  for (unsigned block = 0; block < blocks; ++block) {
    WideSchedule<256, 128> tiles(offsets.data(), static_cast<int>(rows.size()), 0, columns, 5, 8, {1, cols_of_cluster},
                                 block, blocks);
    unsigned turn = 0;
    GroupedWork work = tiles.first();
    for (bool more = tiles.has(0); more; more = tiles.next(turn, work)) {
      ++all.times[{work.group, work.row, work.col}];
      const int left = work.end - work.row;
      if (left <= 128) ++all.times[{work.group, work.row, work.col + 128}];
      all.lengths[block] += left <= 64 ? 4 : 6;
    }
  }
  return all;
}

TEST(HopperSchedule, WideTilesOfGroupsAreTakenOnce) {
  for (const std::vector<int>& rows : {std::vector{0, 300, 64, 0, 65, 129, 1, 512, 0},
                                       {1, 1, 1, 700},
                                       {0},
                                       {4096},
                                       {40, 40, 40, 40, 40, 40, 40, 40, 1000},
                                       {32, 64, 2048, 32, 1024, 128, 512, 256}})
    for (const unsigned blocks : {2u, 6u, 132u})
      for (const unsigned cols_of_cluster : {1u, 2u}) {
        std::size_t expected = 0;
        for (const int count : rows) expected += static_cast<std::size_t>((count + 255) / 256) * 8;
        const Taken all = taken_wide(rows, 1024, blocks, cols_of_cluster);
        EXPECT_EQ(all.times.size(), expected);
        for (const auto& [tile, times] : all.times) EXPECT_EQ(times, 1);
      }
}

TEST(HopperSchedule, BlocksGetTheEvenShareOfWideTiles) {
  for (const unsigned cols_of_cluster : {1u, 2u})
    for (const std::vector<int>& rows :
         {std::vector{2048, 1024, 512, 256, 128, 64, 32, 32}, {32, 64, 2048, 32, 1024, 128, 512, 256}}) {
      const Taken all = taken_wide(rows, 4096, 132, cols_of_cluster);
      for (const auto& [block, length] : all.lengths) EXPECT_LE(length, 4 * 6) << block;
    }
}

TEST(HopperSchedule, DivisionIsExact) {
  for (steps_of_error = -2; steps_of_error <= 2; ++steps_of_error)
    for (unsigned y : {1u, 2u, 3u, 7u, 131u, 132u, 1000u, 65536u, (1u << 20) - 1})
      for (unsigned x = 0; x < 1u << 20; x += x % y == y - 1 ? 1 : std::max(1u, y - 1 - x % y))
        ASSERT_EQ(divide(x, y), x / y) << x << " / " << y << ", " << steps_of_error;
  steps_of_error = 0;
}

TEST(HopperSchedule, EightRowsOfASwizzledColumnLieInEightBanks) {
  std::set<unsigned> places;
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned chunk = 0; chunk < 8; ++chunk) {
      const unsigned place = swizzled(row * 128 + chunk * 16);
      EXPECT_EQ(place / 128, row) << "a row stays within its bytes";
      EXPECT_EQ(swizzled(row * 128 + chunk * 16 + 8), place + 8) << "16 bytes stay together";
      places.insert(place);
    }
  EXPECT_EQ(places.size(), 64u * 8);
  for (unsigned first = 0; first < 64; first += 8)
    for (unsigned chunk = 0; chunk < 8; ++chunk) {
      std::map<unsigned, int> banks;  // of 16 bytes
      for (unsigned row = first; row < first + 8; ++row) ++banks[swizzled(row * 128 + chunk * 16) / 16 % 8];
      for (const auto& [bank, times] : banks) EXPECT_EQ(times, 1) << "bank " << bank;
    }
}

}  // namespace
}  // namespace tune::hopper_schedule_test
