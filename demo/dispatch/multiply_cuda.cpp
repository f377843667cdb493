// Multiplies all sizes that a package has, on a GPU.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <initializer_list>

#include "tuned_hopper_bf16.h"
namespace gemm = tuned::hopper_bf16;

int main() {
  void *A = nullptr, *B = nullptr, *C = nullptr;
  for (void** matrix : {&A, &B, &C}) cudaMalloc(matrix, std::size_t{1} << 30);
  for (const gemm::Entry& entry : gemm::entries())
    if (const gemm::Error error = gemm::run(entry.sizes, nullptr, {A, B, C}); error != gemm::Error::ok)
      std::printf("m=%ld: %s\n", static_cast<long>(entry.sizes.m), gemm::text(error));
  const bool done = cudaDeviceSynchronize() == cudaSuccess;
  const gemm::Counters counts = gemm::counters();
  std::printf("%s: %lu exact, %lu by rule\n", done ? "done" : "failed", counts.exact, counts.rule);
  return done && counts.miss + counts.failed == 0 ? 0 : 1;
}
