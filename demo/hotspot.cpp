// Hotspot on the CPU: the tiles of hotspot.cu, each made by one thread in its first-level cache. A tile is block_size_x
// * tile_size_x cells wide and block_size_y * tile_size_y high, and makes temporal_tiling_factor steps before it is
// written back; sh_power copies the power into the cache beside it.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace {

constexpr int kSteps = temporal_tiling_factor, kUnroll = loop_unroll_factor_t;
constexpr int kTileX = block_size_x * tile_size_x, kTileY = block_size_y * tile_size_y;
constexpr int kWidth = kTileX + 2 * kSteps, kHeight = kTileY + 2 * kSteps;

struct Grid {
  const float *power, *temp;
  float* out;
  int width, height;
  float cap, rx, ry, rz, ambient;

  float next(float t, float left, float right, float up, float down, float watts) const {
    return t + cap * (watts + (up + down - 2 * t) * ry + (left + right - 2 * t) * rx + (ambient - t) * rz);
  }

  /// One row of a step. `from` is row y of what is read, `to` of what is written, `above` and `below` its neighbours;
  /// all of them, and `watts`, are indexed by the column in the grid.
  void row(const float* from, const float* above, const float* below, const float* watts, float* to, int begin,
           int end) const {
    const auto cell = [&](int x) {
      const float left = x > 0 ? from[x - 1] : from[x], right = x < width - 1 ? from[x + 1] : from[x];
      to[x] = next(from[x], left, right, above[x], below[x], watts[x]);
    };
    if (begin == 0) cell(begin++);
    const int inner = std::min(end, width - 1);
#pragma GCC ivdep
    for (int x = begin; x < inner; ++x) to[x] = next(from[x], from[x - 1], from[x + 1], above[x], below[x], watts[x]);
    if (inner < end) cell(inner);
  }
};

/// A tile with its halo in memory of its own, addressed by rows and columns of the grid.
struct Tile {
  int x, y;
  float* data;
  float* row(int grid_row) const { return data + (grid_row - y) * kWidth - x; }
};

struct Scratch {
  std::vector<float> now = std::vector<float>(kWidth * kHeight), then = now, power = now;
};

void make_tile(const Grid& grid, int x, int y, Scratch& scratch) {
  Tile now = {x - kSteps, y - kSteps, scratch.now.data()}, then = {now.x, now.y, scratch.then.data()};
  const Tile power = {now.x, now.y, scratch.power.data()};
  // The part of the tile, `margin` cells of halo cut off, that lies in the grid.
  const auto rows = [&](int margin, const auto& f) {
    const int left = std::max(0, now.x + margin), right = std::min(grid.width, now.x + kWidth - margin);
    const int end = std::min(grid.height, now.y + kHeight - margin);
    for (int row = std::max(0, now.y + margin); row < end; ++row) f(row, left, right);
  };
  const auto copy = [&](const float* from, const Tile& to) {
    rows(0, [&](int row, int left, int right) {
      std::copy(from + row * grid.width + left, from + row * grid.width + right, to.row(row) + left);
    });
  };
  copy(grid.temp, now);
  if (sh_power) copy(grid.power, power);
#pragma GCC unroll kUnroll
  for (int step = 1; step <= kSteps; ++step) {
    rows(step, [&](int row, int left, int right) {
      const float* from = now.row(row);
      const float* watts = sh_power ? power.row(row) : grid.power + row * grid.width;
      grid.row(from, row > 0 ? now.row(row - 1) : from, row < grid.height - 1 ? now.row(row + 1) : from, watts,
               step == kSteps ? grid.out + row * grid.width : then.row(row), left, right);
    });
    std::swap(now, then);
  }
}

}  // namespace

extern "C" void hotspot(const float* power, const float* temp, float* out, int width, int height, float cap, float rx,
                        float ry, float rz, float ambient) {
  const Grid grid = {power, temp, out, width, height, cap, rx, ry, rz, ambient};
  const int across = (width + kTileX - 1) / kTileX, tiles = across * ((height + kTileY - 1) / kTileY);
  std::atomic<int> next_tile = 0;
  const auto work = [&] {
    Scratch scratch;
    for (int tile = next_tile++; tile < tiles; tile = next_tile++)
      make_tile(grid, tile % across * kTileX, tile / across * kTileY, scratch);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

/// One step, cell by cell: what the other is checked against.
extern "C" void hotspot_simple(const float* power, const float* temp, float* out, int width, int height, float cap,
                               float rx, float ry, float rz, float ambient) {
  const Grid grid = {power, temp, out, width, height, cap, rx, ry, rz, ambient};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const float* t = temp + y * width + x;
      const float left = x > 0 ? t[-1] : *t, right = x < width - 1 ? t[1] : *t;
      const float up = y > 0 ? t[-width] : *t, down = y < height - 1 ? t[width] : *t;
      out[y * width + x] = grid.next(*t, left, right, up, down, power[y * width + x]);
    }
}
