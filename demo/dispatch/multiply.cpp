// Multiplies matrices of sizes that it learns at run time, with what tune found: docs/dispatch.md has the commands.
#include <cstdio>
#include <vector>

#include "tuned_gemm.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    long m = 0, n = 0, k = 0;
    if (std::sscanf(argv[i], "%ldx%ldx%ld", &m, &n, &k) != 3 || m < 1 || n < 1 || k < 1)
      return std::puts("usage: multiply 512x512x256..."), 2;
    const std::vector<float> A(m * k, 2), B(k * n, 3);
    std::vector<float> C(m * n);
    const tuned::gemm::Plan plan = tuned::gemm::find({m, n, k});
    const tuned::gemm::Error error = tuned::gemm::launch(plan, nullptr, {A.data(), B.data(), C.data()});
    if (error == tuned::gemm::Error::no_plan)  // what the program did before
      for (long at = 0; at < m * n; ++at)
        for (long p = 0; p < k; ++p) C[at] += A[at / n * k + p] * B[p * n + at % n];
    // Only `exact` sizes were tuned; for others it is a configuration of nearby ones, which may be slow.
    const char* const match = plan.match == tuned::gemm::Match::exact ? "exact" : plan ? "by rule" : "no plan";
    std::printf("%s: %s, %s %s: %s\n", argv[i], match,
                plan ? tuned::gemm::entries().data[plan.entry].params : "plain loop", plan.why,
                C.back() == 6.0F * static_cast<float>(k) ? "right" : "WRONG");
  }
  const tuned::gemm::Counters counts = tuned::gemm::counters();
  std::printf("%lu exact, %lu by rule, %lu without a plan\n", counts.exact, counts.rule, counts.miss);
}
