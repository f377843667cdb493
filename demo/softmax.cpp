// Softmax of every row of a matrix, on the CPU.
//
//   LANES    elements that are computed side by side
//   ROWS     rows that a thread takes at a time
//   STORE    1: exponentials wait in the output until their sum is known; 0: they are computed twice

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace {

/// exp(x) for x <= 0, in a form that compilers vectorise; the relative error is below 3e-7.
inline float exp_of(float x) {
  x = x < -87.0f ? -87.0f : x;
  const float power = std::floor(x * 1.44269504f + 0.5f);
  const float rest = x - power * 0.693359375f + power * 2.12194440e-4f;
  float sum = 1.0f / 720.0f;
  for (const float factor : {1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f}) sum = sum * rest + factor;
  return sum * std::bit_cast<float>(static_cast<std::int32_t>(power + 127.0f) << 23);
}

}  // namespace

extern "C" void softmax(const float* x, float* y, int rows, int cols, int threads) {
#pragma omp parallel for schedule(static, ROWS) num_threads(threads)
  for (int row = 0; row < rows; ++row) {
    const float* in = x + static_cast<std::int64_t>(row) * cols;
    float* out = y + static_cast<std::int64_t>(row) * cols;
    const int whole = cols / LANES * LANES;
    float largest[LANES], sums[LANES] = {};
    for (float& each : largest) each = in[0];
    for (int col = 0; col < whole; col += LANES)
      for (int lane = 0; lane < LANES; ++lane)
        largest[lane] = in[col + lane] > largest[lane] ? in[col + lane] : largest[lane];
    float most = largest[0];
    for (const float each : largest) most = each > most ? each : most;
    for (int col = whole; col < cols; ++col) most = in[col] > most ? in[col] : most;
    for (int col = 0; col < whole; col += LANES)
      for (int lane = 0; lane < LANES; ++lane) {
        const float power = exp_of(in[col + lane] - most);
        if (STORE) out[col + lane] = power;
        sums[lane] += power;
      }
    float sum = 0;
    for (const float each : sums) sum += each;
    for (int col = whole; col < cols; ++col) sum += exp_of(in[col] - most);
    for (int col = 0; col < cols; ++col)
      out[col] = (STORE && col < whole ? out[col] : exp_of(in[col] - most)) * (1.0f / sum);
  }
}

extern "C" void softmax_simple(const float* x, float* y, int rows, int cols, int threads) {
  for (int row = 0; row < rows; ++row) {
    const float* in = x + static_cast<std::int64_t>(row) * cols;
    double most = in[0], sum = 0;
    for (int col = 0; col < cols; ++col) most = in[col] > most ? in[col] : most;
    for (int col = 0; col < cols; ++col) sum += std::exp(in[col] - most);
    for (int col = 0; col < cols; ++col)
      y[static_cast<std::int64_t>(row) * cols + col] = static_cast<float>(std::exp(in[col] - most) / sum);
  }
}
