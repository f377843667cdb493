// Layer norm of every row of a matrix on the CPU: (x - mean) / sqrt(variance + epsilon) * gamma + beta.
//
//   LANES    elements that are computed side by side
//   ROWS     rows that a thread takes at a time
//   PASSES   1: mean and variance are found together; 2: one after the other
#include <cmath>
#include <cstdint>

namespace {

/// The sum of f(element) over a row, in LANES sums that meet at the end.
template <typename F>
float sum_of(const float* row, int cols, F f) {
  float sums[LANES] = {}, sum = 0;
  const int whole = cols / LANES * LANES;
  for (int col = 0; col < whole; col += LANES)
    for (int lane = 0; lane < LANES; ++lane) sums[lane] += f(row[col + lane]);
  for (const float each : sums) sum += each;
  for (int col = whole; col < cols; ++col) sum += f(row[col]);
  return sum;
}

struct Moments {
  float mean, variance;
};

Moments moments_of(const float* row, int cols) {
  if (PASSES == 2) {
    const float mean = sum_of(row, cols, [](float x) { return x; }) / cols;
    return {mean, sum_of(row, cols, [mean](float x) { return (x - mean) * (x - mean); }) / cols};
  }
  // Sums of differences from an element of the row: those of the elements themselves would lose digits.
  const float middle = row[0];
  float sums[LANES] = {}, squares[LANES] = {}, sum = 0, square = 0;
  const int whole = cols / LANES * LANES;
  for (int col = 0; col < whole; col += LANES)
    for (int lane = 0; lane < LANES; ++lane) {
      const float distance = row[col + lane] - middle;
      sums[lane] += distance;
      squares[lane] += distance * distance;
    }
  for (int lane = 0; lane < LANES; ++lane) {
    sum += sums[lane];
    square += squares[lane];
  }
  for (int col = whole; col < cols; ++col) {
    const float distance = row[col] - middle;
    sum += distance;
    square += distance * distance;
  }
  const float distance = sum / cols;
  return {middle + distance, square / cols - distance * distance};
}

}  // namespace

extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                          float epsilon, int threads) {
#pragma omp parallel for schedule(static, ROWS) num_threads(threads)
  for (int row = 0; row < rows; ++row) {
    const float* in = x + static_cast<std::int64_t>(row) * cols;
    float* out = y + static_cast<std::int64_t>(row) * cols;
    const Moments found = moments_of(in, cols);
    const float scale = 1 / std::sqrt(found.variance + epsilon);
    for (int col = 0; col < cols; ++col) out[col] = (in[col] - found.mean) * scale * gamma[col] + beta[col];
  }
}

extern "C" void layernorm_simple(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                                 float epsilon, int threads) {
  for (int row = 0; row < rows; ++row) {
    const float* in = x + static_cast<std::int64_t>(row) * cols;
    float* out = y + static_cast<std::int64_t>(row) * cols;
    double mean = 0, variance = 0;
    for (int col = 0; col < cols; ++col) mean += in[col];
    mean /= cols;
    for (int col = 0; col < cols; ++col) variance += (in[col] - mean) * (in[col] - mean);
    variance /= cols;
    for (int col = 0; col < cols; ++col)
      out[col] = static_cast<float>((in[col] - mean) / std::sqrt(variance + epsilon) * gamma[col] + beta[col]);
  }
}
