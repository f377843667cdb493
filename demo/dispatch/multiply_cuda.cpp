// Multiplies matrices of all sizes that a package has, and compares the times with those of the tuning.
#include <cmath>
#include <cstdio>

#include "timing.h"
#include "tuned_hopper_bf16.h"

int main() {
  using namespace tuned::hopper_bf16;
  Timing timing;
  double sum = 0;
  for (const Entry& entry : entries()) {
    const double now = timing.of(entry.sizes, [&](void* A, void* B, void* C) { run(entry.sizes, nullptr, {A, B, C}); });
    std::printf("m=%ld n=%ld k=%ld: %.4f ms", entry.sizes.m, entry.sizes.n, entry.sizes.k, now);
    std::printf(", recorded %.4f\n", entry.milliseconds);
    sum += std::log(now / entry.milliseconds);
  }
  std::printf("%.4f of the recorded times, by geometric mean\n", std::exp(sum / entries().size));
  return counters().rule + counters().miss + counters().failed > 0 || cudaDeviceSynchronize() != cudaSuccess;
}
