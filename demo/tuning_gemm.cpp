// A GEMM that finds the best tile for each of its sizes while it runs, with tune/tuning.h:
//
//   c++ -std=c++17 -O3 -march=native -I demo demo/tuning_gemm.cpp -o tuning_gemm
//   tune kokkos -- ./tuning_gemm 500 128 512 1024
//
// The arguments are how often each matrix product is computed, and the sizes of the square matrices.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tune/tuning.h"

namespace {

using tune::tuning::Category;
using Matrix = std::vector<float>;

/// C += A B, in blocks of `rows` rows of A and `depth` columns of A, which stay in the cache.
void multiply_in_blocks(const Matrix& a, const Matrix& b, Matrix& c, std::size_t n, std::size_t rows,
                        std::size_t depth) {
  for (std::size_t p0 = 0; p0 < n; p0 += depth)
    for (std::size_t i0 = 0; i0 < n; i0 += rows)
      for (std::size_t i = i0; i < std::min(n, i0 + rows); ++i)
        for (std::size_t p = p0; p < std::min(n, p0 + depth); ++p) {
          const float factor = a[i * n + p];
          const float* from = &b[p * n];
          float* to = &c[i * n];
          for (std::size_t j = 0; j < n; ++j) to[j] += factor * from[j];
        }
}

class TunedGemm {
 public:
  void multiply(const Matrix& a, const Matrix& b, Matrix& c, std::size_t n) {
    tune::tuning::Context context;
    context.set(n_, static_cast<std::int64_t>(n));
    std::int64_t rows = 4, depth = 4;  // where no tool is loaded, and until it knows better
    context.request({{rows_, &rows}, {depth_, &depth}});
    multiply_in_blocks(a, b, c, n, static_cast<std::size_t>(rows), static_cast<std::size_t>(depth));
  }

 private:
  tune::tuning::Parameter rows_{"rows", std::vector<std::int64_t>{4, 16, 32, 64, 256}, Category::ratio};
  tune::tuning::Parameter depth_{"depth", std::vector<std::int64_t>{4, 16, 32, 64, 256}, Category::ratio};
  tune::tuning::Input n_{"n"};
};

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 100;
  TunedGemm gemm;
  for (int arg = 2; arg < argc; ++arg) {
    const auto n = static_cast<std::size_t>(std::max(1, std::atoi(argv[arg])));
    const Matrix a(n * n, 1.0F), b(n * n, 2.0F);
    Matrix c(n * n);
    const auto begin = std::chrono::steady_clock::now();
    for (int call = 0; call < calls; ++call) {
      std::fill(c.begin(), c.end(), 0.0F);
      gemm.multiply(a, b, c, n);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto wrong = std::count_if(c.begin(), c.end(), [&](float x) { return x != 2.0F * static_cast<float>(n); });
    std::printf("n %zu: %.3g GFLOP/s, %ld wrong elements\n", n, 2e-9 * calls * std::pow(n, 3) / seconds,
                static_cast<long>(wrong));
  }
  return 0;
}
