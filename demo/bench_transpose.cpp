// A transpose in tiles: the tile's sides and which of its loops is the outer one are compiled in, the number of threads
// comes at run time. A tile should stay in cache while its lines are read along one side and written along the other.
#include <cstddef>
#include <thread>
#include <vector>

#include "tune/bench.h"

#ifndef TILE_ROWS
#define TILE_ROWS 32
#endif
#ifndef TILE_COLS
#define TILE_COLS 32
#endif

namespace {

constexpr std::size_t kSize = 2048;  // elements per side: 16 MiB per matrix, so that caches do not hold both
static_assert(kSize % TILE_ROWS == 0 && kSize % TILE_COLS == 0, "tiles cover the matrix");

using Matrix = std::vector<float>;

void transpose_tile(const Matrix& in, Matrix& out, std::size_t row, std::size_t col) {
#ifdef LOOP_read_rows
  for (std::size_t i = row; i < row + TILE_ROWS; ++i)
    for (std::size_t j = col; j < col + TILE_COLS; ++j) out[j * kSize + i] = in[i * kSize + j];
#else
  for (std::size_t j = col; j < col + TILE_COLS; ++j)
    for (std::size_t i = row; i < row + TILE_ROWS; ++i) out[j * kSize + i] = in[i * kSize + j];
#endif
}

// Thread `index` of `threads` takes every threads-th row of tiles.
void transpose_share(const Matrix& in, Matrix& out, std::size_t index, std::size_t threads) {
  for (std::size_t row = index * TILE_ROWS; row < kSize; row += threads * TILE_ROWS)
    for (std::size_t col = 0; col < kSize; col += TILE_COLS) transpose_tile(in, out, row, col);
}

void transpose(const Matrix& in, Matrix& out, std::size_t threads) {
  std::vector<std::thread> others;
  for (std::size_t index = 1; index < threads; ++index)
    others.emplace_back([&, index] { transpose_share(in, out, index, threads); });
  transpose_share(in, out, 0, threads);
  for (auto& other : others) other.join();
}

bool is_transpose(const Matrix& in, const Matrix& out) {
  for (std::size_t i = 0; i < kSize; ++i)
    for (std::size_t j = 0; j < kSize; ++j)
      if (out[j * kSize + i] != in[i * kSize + j]) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const tune::bench::Arguments arguments(argc, argv);
  const auto threads = static_cast<std::size_t>(arguments.integer("THREADS", 1));
  Matrix in(kSize * kSize), out(kSize * kSize, -1.0f);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);

  auto result = tune::bench::measure("transpose", [&] {
    transpose(in, out, threads);
    tune::bench::clobber_memory();
  });
  result.metric("GB/s", 2e-9 * static_cast<double>(in.size() * sizeof(float)) / result.seconds);
  result.ok(is_transpose(in, out));
  return tune::bench::report(result, arguments);
}
