#include <cmath>
#include <cstdio>

#include "timing.h"
#include "tuned_hopper_bf16.h"

int main() {
  using namespace tuned::hopper_bf16;
  Timing timing;
  double sum = 0;
  for (const Entry& one : entries()) {
    const Plan plan = find(one.sizes);
    const auto call = [&](void* A, void* B, void* C, void* W) { launch(plan, nullptr, {A, B, C}, W, plan.workspace); };
    const double now = timing.of(one.sizes, call);
    std::printf("%ldx%ldx%ld: %.4f ms, recorded %.4f\n", one.sizes.m, one.sizes.n, one.sizes.k, now, one.milliseconds);
    sum += std::log(now / one.milliseconds);
  }
  std::printf("%.4f of the recorded times, by geometric mean\n", std::exp(sum / entries().size));
  return counters().rule + counters().miss + counters().failed > 0 || cudaDeviceSynchronize() != cudaSuccess;
}
