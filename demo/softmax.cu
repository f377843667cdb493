// Softmax of every row of a matrix. Device code for CUDA and HIP.
//
//   COLS    threads of a row
//   ROWS    rows of a block
//   VEC     elements that a thread loads at once
//   READS   how often a row is read: once, and held in registers (HELD pieces of a thread); twice, when its maximum and
//           its sum are found together; or three times
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(COLS* ROWS) softmax(const float* x, float* y, int rows, int cols) {
  const Row row(x, y, blockIdx.x * ROWS + threadIdx.y, rows, cols);
  const float none = -3.4e38f;
  Pair found = {none, 0};  // the maximum, and the sum of exponentials relative to it
  if (READS == 2) {
    row.each([&](float value) {
      const float most = fmaxf(found.first, value);
      found = {most, found.second * __expf(found.first - most) + __expf(value - most)};
    });
    found = of_row(found, [](Pair a, Pair b) {
      const float most = fmaxf(a.first, b.first);
      return Pair{most, a.second * __expf(a.first - most) + b.second * __expf(b.first - most)};
    });
  } else {
    row.each([&](float value) { found.first = fmaxf(found.first, value); });
    found.first = of_row(found.first, [](float a, float b) { return fmaxf(a, b); });
    row.each([&](float value) { found.second += __expf(value - found.first); });
    found.second = of_row(found.second, [](float a, float b) { return a + b; });
  }
  const float scale = 1 / found.second;
  row.write([&](float value, int) { return __expf(value - found.first) * scale; });
}

/// A thread per row: what the other is checked against.
extern "C" __global__ void softmax_simple(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<long long>(row) * cols;
  y += static_cast<long long>(row) * cols;
  float most = x[0];
  double sum = 0;
  for (int col = 0; col < cols; ++col) most = fmaxf(most, x[col]);
  for (int col = 0; col < cols; ++col) sum += exp(static_cast<double>(x[col]) - most);
  for (int col = 0; col < cols; ++col) y[col] = static_cast<float>(exp(static_cast<double>(x[col]) - most) / sum);
}
