// Hotspot: how the temperature of a chip develops, as an explicit five-point stencil. Several time steps are made in
// one launch: a block loads its tile with a halo of as many cells as it makes steps, and each step makes the part of
// the tile that is still right smaller by one cell on every side. Device code for CUDA and HIP.
//
//   block_size_x, block_size_y   threads of a block
//   tile_size_x, tile_size_y     cells per thread
//   temporal_tiling_factor       time steps per launch
//   loop_unroll_factor_t         of those, how many are unrolled
//   sh_power                     1: the power is kept in shared memory too

namespace {

constexpr int kSteps = temporal_tiling_factor, kUnroll = loop_unroll_factor_t;
constexpr int kThreads = block_size_x * block_size_y;
constexpr int kTileX = block_size_x * tile_size_x, kTileY = block_size_y * tile_size_y;
constexpr int kWidth = kTileX + 2 * kSteps, kHeight = kTileY + 2 * kSteps;
static_assert(kSteps % kUnroll == 0, "the unrolled steps must divide the steps of a launch");

/// Where a block's tile, halo included, lies in the grid.
struct Tile {
  int x, y, width, height;

  __device__ bool inside(int i, int j) const { return x + i >= 0 && x + i < width && y + j >= 0 && y + j < height; }
  __device__ int at(int i, int j) const { return (y + j) * width + x + i; }
};

/// Calls `f` for this thread's cells of a tile of `width` x `height` whose corner is at (margin, margin).
template <typename F>
__device__ void for_cells(int margin, int width, int height, F f) {
  for (int j = margin + threadIdx.y; j < margin + height; j += block_size_y)
    for (int i = margin + threadIdx.x; i < margin + width; i += block_size_x) f(i, j);
}

__device__ void load(const Tile& tile, const float* from, float* to) {
  for_cells(0, kWidth, kHeight, [&](int i, int j) {
    if (tile.inside(i, j)) to[j * kWidth + i] = from[tile.at(i, j)];
  });
}

/// The next temperature of a cell. No heat crosses the chip's edge: a neighbour that is not there is as warm as the
/// cell.
__device__ float next(const Tile& tile, const float* temp, int i, int j, float power, float cap, float rx, float ry,
                      float rz, float ambient) {
  const int at = j * kWidth + i, x = tile.x + i, y = tile.y + j;
  const float t = temp[at];
  const float left = x > 0 ? temp[at - 1] : t, right = x < tile.width - 1 ? temp[at + 1] : t;
  const float up = y > 0 ? temp[at - kWidth] : t, down = y < tile.height - 1 ? temp[at + kWidth] : t;
  return t + cap * (power + (up + down - 2 * t) * ry + (left + right - 2 * t) * rx + (ambient - t) * rz);
}

}  // namespace

/// `cap` is a time step over a cell's heat capacity; rx, ry and rz are reciprocals of thermal resistances.
extern "C" __global__ void __launch_bounds__(kThreads)
    hotspot(const float* power, const float* temp, float* out, int width, int height, float cap, float rx, float ry,
            float rz, float ambient) {
  extern __shared__ float memory[];
  float *now = memory, *then = memory + kWidth * kHeight;
  const Tile tile = {static_cast<int>(blockIdx.x) * kTileX - kSteps, static_cast<int>(blockIdx.y) * kTileY - kSteps,
                     width, height};
  load(tile, temp, now);
#if sh_power
  float* const tile_power = memory + 2 * kWidth * kHeight;
  load(tile, power, tile_power);
  const auto power_at = [&](int i, int j) { return tile_power[j * kWidth + i]; };
#else
  const auto power_at = [&](int i, int j) { return power[tile.at(i, j)]; };
#endif
  __syncthreads();
#pragma unroll kUnroll
  for (int step = 1; step < kSteps; ++step) {
    for_cells(step, kWidth - 2 * step, kHeight - 2 * step, [&](int i, int j) {
      if (tile.inside(i, j)) then[j * kWidth + i] = next(tile, now, i, j, power_at(i, j), cap, rx, ry, rz, ambient);
    });
    __syncthreads();
    float* const made = then;
    then = now;
    now = made;
  }
  for_cells(kSteps, kTileX, kTileY, [&](int i, int j) {
    if (tile.inside(i, j)) out[tile.at(i, j)] = next(tile, now, i, j, power_at(i, j), cap, rx, ry, rz, ambient);
  });
}

/// One step, a thread per cell, blocks of any shape: what the others are checked against.
extern "C" __global__ void hotspot_simple(const float* power, const float* temp, float* out, int width, int height,
                                          float cap, float rx, float ry, float rz, float ambient) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int at = y * width + x;
  const float t = temp[at];
  const float left = x > 0 ? temp[at - 1] : t, right = x < width - 1 ? temp[at + 1] : t;
  const float up = y > 0 ? temp[at - width] : t, down = y < height - 1 ? temp[at + width] : t;
  out[at] = t + cap * (power[at] + (up + down - 2 * t) * ry + (left + right - 2 * t) * rx + (ambient - t) * rz);
}
