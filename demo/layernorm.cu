// Layer norm of every row of a matrix: (x - mean) / sqrt(variance + epsilon) * gamma + beta. Device code for CUDA and
// HIP.
//
//   COLS    threads of a row
//   ROWS    rows of a block
//   VEC     elements that a thread loads at once
//   READS   how often a row is read: once, and held in registers (HELD pieces of a thread); twice, when its mean and
//           its variance are found together; or three times
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(COLS* ROWS)
    layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
  const Row row(x, y, blockIdx.x * ROWS + threadIdx.y, rows, cols);
  const auto add = [](float a, float b) { return a + b; };
  float mean, variance;
  if (READS == 2) {
    // Sums of differences from an element of the row: those of the elements themselves would lose digits.
    const float middle = row.in[0].at[0];
    Pair sums = {0, 0};
    row.each([&](float value) {
      const float distance = value - middle;
      sums = {sums.first + distance, sums.second + distance * distance};
    });
    sums = of_row(sums, [](Pair a, Pair b) { return Pair{a.first + b.first, a.second + b.second}; });
    const float distance = sums.first / cols;
    mean = middle + distance;
    variance = sums.second / cols - distance * distance;
  } else {
    float sum = 0;
    row.each([&](float value) { sum += value; });
    mean = of_row(sum, add) / cols;
    sum = 0;
    row.each([&](float value) { sum += (value - mean) * (value - mean); });
    variance = of_row(sum, add) / cols;
  }
  const float scale = rsqrtf(variance + epsilon);
  row.write([&](float value, int col) { return (value - mean) * scale * gamma[col] + beta[col]; });
}

/// A thread per row: what the other is checked against.
extern "C" __global__ void layernorm_simple(const float* x, const float* gamma, const float* beta, float* y, int rows,
                                            int cols, float epsilon) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<long long>(row) * cols;
  y += static_cast<long long>(row) * cols;
  double mean = 0, variance = 0;
  for (int col = 0; col < cols; ++col) mean += x[col];
  mean /= cols;
  for (int col = 0; col < cols; ++col) variance += (x[col] - mean) * (x[col] - mean);
  variance /= cols;
  for (int col = 0; col < cols; ++col)
    y[col] = static_cast<float>((x[col] - mean) / sqrt(variance + epsilon) * gamma[col] + beta[col]);
}
