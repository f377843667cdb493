// A box blur along rows and columns, on the CPU with OpenMP.
#include <algorithm>

extern "C" void blur(const float* image, float* result, int height, int width) {
#pragma omp parallel for num_threads(NUM_THREADS)
  for (int tile = 0; tile < (height + TILE_H - 1) / TILE_H; ++tile)
    for (int x0 = 0; x0 < width; x0 += TILE_W)
      for (int y = tile * TILE_H; y < std::min(height, (tile + 1) * TILE_H); ++y)
        for (int x = x0; x < std::min(width, x0 + TILE_W); ++x) {
          float sum = 0;
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
              sum += image[std::clamp(y + dy, 0, height - 1) * width + std::clamp(x + dx, 0, width - 1)];
          result[y * width + x] = sum / 9;
        }
}
